declare module "virtual:engine" {
  /** The engine, compressed by gzip, in base64. */
  const bytes: string;
  export default bytes;
}
