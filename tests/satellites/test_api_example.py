"""The example of `ackclock.evaluate`, which the core cannot run."""

import doctest
import inspect

import ackclock


def test_the_example_of_evaluate_is_right():
    text = inspect.getdoc(ackclock.evaluate).replace("# doctest: +SKIP", "")
    test = doctest.DocTestParser().get_doctest(text, {}, "evaluate", None, None)
    assert doctest.DocTestRunner().run(test) == doctest.TestResults(failed=0, attempted=3)
