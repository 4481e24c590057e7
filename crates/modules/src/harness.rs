//! Tools that the unit tests of this crate share: a VM, and scripts evaluated to text.

use std::rc::Rc;

use brunt_quickjs::{Ctx, Hooks, Vm};

/// A fresh VM with the globals that `install` gives it.
pub(crate) fn vm(install: impl for<'js> Fn(Ctx<'js>) -> Result<(), brunt_quickjs::Thrown>) -> Vm {
    let vm = Vm::new(Rc::new(()), Hooks::default(), 1024 * 1024);
    assert!(install(vm.ctx()).is_ok(), "globals are installed");
    vm
}

/// The value of a script, as `String()` shows it; `threw …` if it throws.
pub(crate) fn text(ctx: Ctx<'_>, source: &str) -> String {
    let shown = ctx.eval("test.js", source).and_then(|value| {
        if value.is_symbol() { Ok("symbol".to_owned()) } else { value.to_string_lossy() }
    });
    shown.unwrap_or_else(|_| {
        let exception = ctx.take_exception().expect("a thrown exception waits");
        format!("threw {}", exception.value.to_string_lossy().expect("an exception shows itself"))
    })
}

/// Evaluates each script and compares.
pub(crate) fn all(vm: &Vm, cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        assert_eq!(text(vm.ctx(), source), *expected, "{source}");
    }
}
