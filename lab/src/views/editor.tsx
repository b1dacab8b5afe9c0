// A text with line numbers; a line with an error is marked.

import { useRef } from "preact/hooks";

interface Props {
  label: string;
  value: string;
  line: number | null;
  onInput: (text: string) => void;
}

/** An editor. Tab leaves it, as everywhere on the page. */
export function Editor({ label, value, line, onInput }: Props) {
  const numbers = useRef<HTMLPreElement>(null);
  const lines = value.split("\n").map((_, index) => index + 1);
  return (
    <div class="editor">
      <pre ref={numbers} aria-hidden="true">
        {lines.map((number) => (
          <span key={number} class={number === line ? "wrong" : ""}>{`${number}\n`}</span>
        ))}
      </pre>
      <textarea
        aria-label={label}
        aria-invalid={line !== null}
        spellcheck={false}
        rows={Math.min(28, Math.max(8, lines.length + 1))}
        value={value}
        wrap="off"
        onInput={(event) => onInput(event.currentTarget.value)}
        onScroll={(event) => {
          if (numbers.current) numbers.current.scrollTop = event.currentTarget.scrollTop;
        }}
      />
    </div>
  );
}
