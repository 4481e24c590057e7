//! The wrapper that makes a script a CommonJS module.

use crate::positions::Shift;

/// Strict, as k6 has all code. Ends with a space, so that the first token of the script does not touch it: the engine takes
/// the place of a token from the blank before it.
const HEAD: &str = "(function(module, exports, require) { 'use strict'; ";
/// For a script that declares a `require` of its own.
const HEAD_BARE: &str = "(function(module, exports) { 'use strict'; ";
/// On a line of its own: the script may end with a comment.
const FOOT: &str = "\n})";

/// Wraps a script. Also tells by how much the head moves its first line.
pub(crate) fn wrap(code: &str, declares_require: bool) -> (String, Shift) {
    let head = if declares_require { HEAD_BARE } else { HEAD };
    let wrapped = [head, code, FOOT].concat();
    (wrapped, Shift { offset: 0, line: 1, column: 1, bytes: head.len() as u32 })
}
