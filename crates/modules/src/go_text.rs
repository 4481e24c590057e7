//! What k6's promises are refused with where an error of Go comes through as it is: an object that is no `Error`
//! and has no message, only a text.

use std::ffi::CStr;
use std::sync::LazyLock;

use brunt_quickjs::{Call, Class, Ctx, JsResult, Members};

/// The text of an error.
pub(crate) struct GoText(String);

impl GoText {
    pub(crate) fn make<'js>(ctx: Ctx<'js>, text: &str) -> JsResult<'js> {
        ctx.instance(Self(text.to_owned()))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl Class for GoText {
    const NAME: &'static CStr = c"Object";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> =
            LazyLock::new(|| Members::new().method(c"error", 0, said).method(c"toString", 0, said));
        &MEMBERS
    }
}

fn said<'js>(call: Call<'js>) -> JsResult<'js> {
    let this = call.this();
    match this.instance::<GoText>() {
        Some(text) => call.ctx().string(text.text()),
        None => Err(call.ctx().throw_type("this is not an error of Go")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{text, vm};

    #[test]
    fn an_error_of_go_is_a_text_without_a_message() {
        let vm = vm(|ctx| ctx.global().define("e", GoText::make(ctx, "no value")?));
        let ctx = vm.ctx();
        let told = text(ctx, "`${e} ${e.error()} ${e.message} ${e instanceof Error} ${typeof e}`");
        assert_eq!(told, "no value no value undefined false object");
        let line = crate::console::format_arguments(&[ctx.global().get("e").unwrap()]).unwrap();
        assert_eq!(line, "no value");
    }
}
