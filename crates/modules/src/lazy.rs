//! Globals that cost a VM next to nothing until a script first asks for them.

use std::ffi::CStr;

use brunt_quickjs::{Call, Ctx, JsResult, Members};

/// A global that is made when it is first read. Every VU has a VM, few scripts use `URL` or `TextDecoder`: until then
/// there is only an accessor, which replaces itself with the real thing.
pub(crate) trait LazyGlobal: 'static {
    /// The global's name.
    const NAME: &'static CStr;

    /// Makes it.
    ///
    /// # Errors
    /// If the VM's memory limit is reached.
    fn make(ctx: Ctx<'_>) -> JsResult<'_>;
}

/// Adds a lazy global to the members of a global object.
pub(crate) fn lazy<T: LazyGlobal>(members: Members) -> Members {
    members.accessor(T::NAME, read::<T>, write::<T>)
}

fn name<T: LazyGlobal>() -> &'static str {
    T::NAME.to_str().expect("names of globals are ASCII")
}

fn read<'js, T: LazyGlobal>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let made = T::make(ctx)?;
    ctx.global().define_hidden(name::<T>(), made.clone())?;
    Ok(made)
}

/// A script or polyfill puts its own in place.
fn write<'js, T: LazyGlobal>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    ctx.global().define_hidden(name::<T>(), call.argument(0))?;
    Ok(ctx.undefined())
}

#[cfg(test)]
mod tests {
    use crate::globals::{base64, structured_clone, text, url};
    use crate::{console, crypto, go_error, harness, json_parse};

    #[test]
    fn all_these_globals_cost_a_vm_less_than_5_kb() {
        let vm = harness::vm(|_| Ok(()));
        let before = vm.memory().allocated;
        let mut last = before;
        let mut costs = Vec::new();
        let installers = [
            ("GoError", go_error::install as for<'js> fn(_) -> brunt_quickjs::JsResult<'js, ()>),
            ("crypto", crypto::web::install),
            ("JSON.parse", json_parse::install),
            ("atob, btoa", base64::install),
            ("structuredClone", structured_clone::install),
            ("TextEncoder, TextDecoder", text::install),
            ("URL, URLSearchParams", url::install),
            ("console", console::install),
        ];
        for (name, install) in installers {
            install(vm.ctx()).unwrap();
            costs.push((name, vm.memory().allocated - last));
            last = vm.memory().allocated;
        }
        assert!(last - before < 5 * 1024, "{} bytes: {costs:?}", last - before);
    }
}
