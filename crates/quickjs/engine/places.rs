//! What is changed in the engine so that stacks tell places exactly, in the author's files, and as k6 does.

use super::adjustments::Adjustment;

/// To be made after those of `adjustments.rs`, on whose text some of them stand.
pub(crate) const PLACES: &[Adjustment] = &[
    // A function without a name, or with one that is computed (`[x]() {}`), has no brackets around its place:
    // `\tat file:///path:line:column(pc)`.
    Adjustment {
        file: "quickjs.c",
        find: "dbuf_printf(&dbuf, \"\\tat %s\", str1);\n",
        put: "bool brunt_named = func_name_str && func_name_str[0] && func_name_str[0] != '[' && strcmp(func_name_str, \"<eval>\");\n            \
              dbuf_printf(&dbuf, \"\\tat %s\", brunt_named ? str1 : b && sf->cur_pc ? \"\" : \"<anonymous>\");\n",
        times: 1,
    },
    // Each place is told as one in its author's file.
    Adjustment {
        file: "quickjs.c",
        find: r#"                atom_str = b->filename ? JS_AtomToCString(ctx, b->filename) : NULL;
                dbuf_printf(&dbuf, " (%s""#,
        put: r#"                atom_str = b->filename ? JS_AtomToCString(ctx, b->filename) : NULL;
                BruntPlace *brunt_ask = __atomic_load_n(&brunt_place, __ATOMIC_RELAXED);
                const char *brunt_file = NULL;
                if (brunt_ask && atom_str && line_num1 != -1)
                    brunt_file = brunt_ask(rt, atom_str, &line_num1, &col_num1);
                dbuf_printf(&dbuf, " (%s""#,
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "dbuf_printf(&dbuf, \" (%s\", atom_str ? atom_str : \"<null>\");",
        put: "dbuf_printf(&dbuf, brunt_named ? \" (%s\" : \"%s\", brunt_file ? brunt_file : atom_str ? atom_str : \"<null>\");",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "line_num1, col_num1, pc);\n                dbuf_putc(&dbuf, ')');",
        put: "line_num1, col_num1, pc);\n                if (brunt_named)\n                    \
              dbuf_putc(&dbuf, ')');",
        times: 1,
    },
    // The column of a token is its own, not that of the last blank before it.
    Adjustment {
        file: "quickjs.c",
        find: r"    s->token.col_num = max_int(1, s->mark - s->eol);
    s->buf_ptr = p;",
        put: r"    s->token.col_num =
        s->token.ptr >= s->token.line_start ? (int)(s->token.ptr - s->token.line_start) + 1 : 1;
    s->buf_ptr = p;",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"    sp->line_start = s->line_start;",
        put: r"    sp->line_start = s->token.line_start;",
        times: 1,
    },
    // A call stands where its bracket opens, `new X()` at `new`, as in k6: not at the last operand of an argument.
    Adjustment {
        file: "quickjs.c",
        find: r"    bool accept_lparen = (parse_flags & PF_POSTFIX_CALL) != 0;",
        put: r"    bool accept_lparen = (parse_flags & PF_POSTFIX_CALL) != 0;
    int brunt_line = s->token.line_num;
    int brunt_col = s->token.col_num;
    int brunt_bracket_line = 0, brunt_bracket_col = 0;",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"            /* function call */
        parse_func_call:
            if (next_token(s))",
        put: r"            /* function call */
        parse_func_call:
            if (call_type != FUNC_CALL_NEW) {
                brunt_line = s->token.line_num;
                brunt_col = s->token.col_num;
            }
            if (next_token(s))",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"            parse_func_call2:
                emit_source_loc(s);",
        put: r"            parse_func_call2:
                if (call_type == FUNC_CALL_TEMPLATE) {
                    brunt_line = s->token.line_num;
                    brunt_col = s->token.col_num;
                }",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"                /* apply function call */
                switch(opcode) {",
        put: r"                /* apply function call */
                emit_source_loc_at(s, brunt_line, brunt_col);
                switch(opcode) {",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"            emit_func_call:
                switch(opcode) {",
        put: r"            emit_func_call:
                emit_source_loc_at(s, brunt_line, brunt_col);
                switch(opcode) {",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"                emit_op(s, OP_dup);
                emit_op(s, OP_call_constructor);
                emit_u16(s, 0);",
        put: r"                emit_op(s, OP_dup);
                emit_source_loc_at(s, brunt_line, brunt_col);
                emit_op(s, OP_call_constructor);
                emit_u16(s, 0);",
        times: 1,
    },
    // What `throw` throws, if it is no error, is thrown where the word stands.
    Adjustment {
        file: "quickjs.c",
        find: r#"    case TOK_THROW:
        if (next_token(s))
            goto fail;
        if (s->got_lf) {
            js_parse_error(s, "line terminator not allowed after throw");
            goto fail;
        }
        emit_source_loc(s);
        if (js_parse_expr(s))
            goto fail;
"#,
        put: r#"    case TOK_THROW: {
        int brunt_line = s->token.line_num;
        int brunt_col = s->token.col_num;
        if (next_token(s))
            goto fail;
        if (s->got_lf) {
            js_parse_error(s, "line terminator not allowed after throw");
            goto fail;
        }
        if (js_parse_expr(s))
            goto fail;
        emit_source_loc_at(s, brunt_line, brunt_col);
        }
"#,
        times: 1,
    },
    // A property that is read stands where its name does.
    Adjustment {
        file: "quickjs.c",
        find: r"                    emit_op(s, OP_get_field);
                    emit_atom(s, s->token.u.ident.atom);
                }
            }
            if (next_token(s))",
        put: r"                    emit_source_loc(s);
                    emit_op(s, OP_get_field);
                    emit_atom(s, s->token.u.ident.atom);
                }
            }
            if (next_token(s))",
        times: 1,
    },
    // Where the last place stands that was told, and which it is.
    Adjustment {
        file: "quickjs.c",
        find: "typedef struct JSParseState {\n",
        put: "typedef struct JSParseState {\n    int brunt_last_line, brunt_last_col; /* line 0: none since it was cleared */\n    \
              size_t brunt_last_end; /* the byte behind it */\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"    dbuf_putc(bc, OP_source_loc);
    dbuf_put_u32(bc, line_num);
    dbuf_put_u32(bc, col_num);
}
",
        put: r"    dbuf_putc(bc, OP_source_loc);
    dbuf_put_u32(bc, line_num);
    dbuf_put_u32(bc, col_num);
    s->brunt_last_line = line_num;
    s->brunt_last_col = col_num;
    s->brunt_last_end = bc->size;
}

/* The property that the last operation reads is that which a call wants: it has no place of its own. */
static void brunt_forget_place(JSParseState *s)
{
    JSFunctionDef *fd = s->cur_func;

    if (fd->last_opcode_pos >= 9 && s->brunt_last_end == (size_t)fd->last_opcode_pos)
        memset(fd->byte_code.buf + fd->last_opcode_pos - 9, OP_nop, 9);
}
",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"                case OP_get_field:
                    /* keep the object on the stack */
",
        put: r"                case OP_get_field:
                    brunt_forget_place(s);
                    /* keep the object on the stack */
",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"                case OP_get_array_el:
                    /* keep the object on the stack */
",
        put: r"                case OP_get_array_el:
                    brunt_forget_place(s);
                    /* keep the object on the stack */
",
        times: 1,
    },
    // Nor has one that is read to be changed (`a.b += 1`, `a.b++`).
    Adjustment {
        file: "quickjs.c",
        find: r"    /* remove the last opcode */
    fd->byte_code.size = fd->last_opcode_pos;
    fd->last_opcode_pos = -1;

    if (keep) {
        /* get the value but keep the object/fields on the stack */",
        put: r"    if (keep && (opcode == OP_get_field || opcode == OP_get_array_el))
        brunt_forget_place(s);
    /* remove the last opcode */
    fd->byte_code.size = fd->last_opcode_pos;
    fd->last_opcode_pos = -1;

    if (keep) {
        /* get the value but keep the object/fields on the stack */",
        times: 1,
    },
    // A property with a computed name stands where its bracket opens.
    Adjustment {
        file: "quickjs.c",
        find: r"        parse_array_access:
            prev_op = get_prev_opcode(fd);
",
        put: r"        parse_array_access:
            brunt_bracket_line = s->token.line_num;
            brunt_bracket_col = s->token.col_num;
            prev_op = get_prev_opcode(fd);
",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"            } else {
                emit_op(s, OP_get_array_el);
            }
        } else {
            break;
",
        put: r"            } else {
                emit_source_loc_at(s, brunt_bracket_line, brunt_bracket_col);
                emit_op(s, OP_get_array_el);
            }
        } else {
            break;
",
        times: 1,
    },
    // The call of a name that nobody declared stands where its bracket opens; a name in `{name}` where it is.
    Adjustment {
        file: "quickjs.c",
        find: r"            do_get_var:
                emit_source_loc_at(s, identifier_line_num, identifier_col_num);
",
        put: r"            do_get_var:
                if (s->token.val == '(' && accept_lparen)
                    emit_source_loc(s);
                else
                    emit_source_loc_at(s, identifier_line_num, identifier_col_num);
",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"        prop_type = js_parse_property_name(s, &name, true, true, false);
        if (prop_type < 0)
            goto fail;

        if (prop_type == PROP_TYPE_VAR) {
",
        put: r"        int brunt_name_line = s->token.line_num, brunt_name_col = s->token.col_num;
        prop_type = js_parse_property_name(s, &name, true, true, false);
        if (prop_type < 0)
            goto fail;

        if (prop_type == PROP_TYPE_VAR) {
            emit_source_loc_at(s, brunt_name_line, brunt_name_col);
",
        times: 1,
    },
    // What is taken apart stands where it comes from.
    Adjustment {
        file: "quickjs.c",
        find: r"        emit_goto(s, OP_goto, label_parse);
        emit_label(s, label_assign);
        /* leave value on the stack */
        emit_op(s, OP_dup);
    }
    assign_addr = s->cur_func->byte_code.size;
",
        put: r"        emit_goto(s, OP_goto, label_parse);
        emit_label(s, label_assign);
        /* leave value on the stack */
        emit_op(s, OP_dup);
    }
    size_t brunt_place = s->cur_func->byte_code.size;
    emit_source_loc(s);
    assign_addr = s->cur_func->byte_code.size;
",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"        if (hasval)
            emit_op(s, OP_drop);
        if (js_parse_assign_expr(s))
            return -1;
        emit_goto(s, OP_goto, label_assign);
",
        put: r"        if (hasval)
            emit_op(s, OP_drop);
        s->brunt_last_line = 0;
        bool brunt_is_literal = s->token.val == '{' || s->token.val == '[';
        int brunt_line = s->token.line_num, brunt_col = s->token.col_num;
        if (js_parse_assign_expr(s))
            return -1;
        if (s->brunt_last_line > 0 || brunt_is_literal) {
            bool brunt_has_last = s->brunt_last_line > 0;
            put_u32(s->cur_func->byte_code.buf + brunt_place + 1, brunt_has_last ? s->brunt_last_line : brunt_line);
            put_u32(s->cur_func->byte_code.buf + brunt_place + 5, brunt_has_last ? s->brunt_last_col : brunt_col);
        } else {
            memset(s->cur_func->byte_code.buf + brunt_place, OP_nop, 9);
        }
        emit_goto(s, OP_goto, label_assign);
",
        times: 1,
    },
    // Operators have no place: their operands do.
    Adjustment {
        file: "quickjs.c",
        find: r"        if (next_token(s))
            return -1;
        emit_source_loc(s);
        if (js_parse_expr_binary(s, level - 1, parse_flags))
            return -1;
        emit_op(s, opcode);
",
        put: r"        if (next_token(s))
            return -1;
        if (js_parse_expr_binary(s, level - 1, parse_flags))
            return -1;
        emit_op(s, opcode);
",
        times: 1,
    },
    // `Error('x')` is in its own trace, `new Error('x')` is not; neither are what the engine calls in between, and `new Promise`.
    Adjustment {
        file: "quickjs.c",
        find: r"    if (JS_IsUndefined(new_target))
        new_target = JS_GetActiveFunction(ctx);
    proto = JS_GetProperty(ctx, new_target, JS_ATOM_prototype);
    if (JS_IsException(proto))
        return proto;
    if (!JS_IsObject(proto)) {
        JSContext *realm;
        JSValue proto1;
",
        put: r"    int brunt_flags = JS_IsUndefined(new_target) ? 0 : JS_BACKTRACE_FLAG_SKIP_FIRST_LEVEL;
    if (JS_IsUndefined(new_target))
        new_target = JS_GetActiveFunction(ctx);
    proto = JS_GetProperty(ctx, new_target, JS_ATOM_prototype);
    if (JS_IsException(proto))
        return proto;
    if (!JS_IsObject(proto)) {
        JSContext *realm;
        JSValue proto1;
",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"    /* skip the Error() function in the backtrace */
    build_backtrace(ctx, obj, JS_UNDEFINED, NULL, 0, 0, JS_BACKTRACE_FLAG_SKIP_FIRST_LEVEL);
",
        put: r"    build_backtrace(ctx, obj, JS_UNDEFINED, NULL, 0, 0, brunt_flags);
",
        times: 1,
    },
    // Code that the script makes at run time is called as in k6.
    Adjustment {
        file: "quickjs.c",
        find: "JS_EvalInternal(ctx, this_obj, str, len, \"<input>\",",
        put: "JS_EvalInternal(ctx, this_obj, str, len, \"<eval>\",",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "static void brunt_stack_part(JSContext *ctx, DynBuf *dbuf,",
        put: PLACE,
        times: 1,
    },
];

/// Who is asked for the author's place; the same for all runtimes.
const PLACE: &str =
    "typedef const char *BruntPlace(JSRuntime *rt, const char *file, int *line, int *col);
static BruntPlace *brunt_place;

void brunt_set_place(BruntPlace *place)
{
    __atomic_store_n(&brunt_place, place, __ATOMIC_RELAXED);
}

static void brunt_stack_part(JSContext *ctx, DynBuf *dbuf,";
