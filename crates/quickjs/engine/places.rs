//! What is changed in the engine so that stacks tell places exactly, in the author's files, and as k6 does.

use super::adjustments::Adjustment;

/// To be made after those of `adjustments.rs`, on whose text some of them stand.
pub(crate) const PLACES: &[Adjustment] = &[
    // A function without a name, or with one that is computed (`[x]() {}`), has no brackets around its place:
    // `\tat file:///path:line:column(pc)`. Functions of the engine that k6's engine calls by no name are left out:
    // `[Symbol.replace]`, the constructor of promises.
    Adjustment {
        file: "quickjs.c",
        find: "dbuf_printf(&dbuf, \"\\tat %s\", str1);\n",
        put: r#"bool brunt_named = func_name_str && func_name_str[0] && func_name_str[0] != '[' &&
                strcmp(func_name_str, "<eval>");
            if (!b && func_name_str && (func_name_str[0] == '[' || !strcmp(func_name_str, "Promise"))) {
                JS_FreeCString(ctx, func_name_str);
                continue;
            }
            dbuf_printf(&dbuf, "\tat %s", brunt_named ? str1 : b && sf->cur_pc ? "" : "<anonymous>");
"#,
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
    int brunt_col = s->token.col_num;",
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
    // A property that is read stands where its name does, or where its bracket opens; one that is called (`a.b()`,
    // `a[0]()`) has no place of its own: if `a` is undefined, the last place before it is told.
    Adjustment {
        file: "quickjs.c",
        find: r"                    emit_op(s, OP_get_field);
                    emit_atom(s, s->token.u.ident.atom);
                }
            }
            if (next_token(s))",
        put: r"                    int brunt_next = peek_token(s, false);
                    if (!(accept_lparen && brunt_next == '(') && brunt_next != '`')
                        emit_source_loc(s);
                    emit_op(s, OP_get_field);
                    emit_atom(s, s->token.u.ident.atom);
                }
            }
            if (next_token(s))",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"        parse_array_access:
            prev_op = get_prev_opcode(fd);",
        put: r"        parse_array_access:
            prev_op = get_prev_opcode(fd);
            int brunt_open_line = s->token.line_num;
            int brunt_open_col = s->token.col_num;",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"            if (prev_op == OP_get_super) {
                emit_op(s, OP_get_super_value);
            } else {
                emit_op(s, OP_get_array_el);",
        put: r"            if (prev_op == OP_get_super) {
                emit_op(s, OP_get_super_value);
            } else {
                if (!(accept_lparen && s->token.val == '(') && s->token.val != TOK_TEMPLATE)
                    emit_source_loc_at(s, brunt_open_line, brunt_open_col);
                emit_op(s, OP_get_array_el);",
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
        put: r"    /* remove the last opcode */
    fd->byte_code.size = fd->last_opcode_pos;
    fd->last_opcode_pos = -1;

    if (keep && (opcode == OP_get_field || opcode == OP_get_array_el) && fd->byte_code.size >= 9 &&
        fd->byte_code.buf[fd->byte_code.size - 9] == OP_source_loc)
        fd->byte_code.size -= 9;
    if (keep) {
        /* get the value but keep the object/fields on the stack */",
        times: 1,
    },
    // An undeclared name that is called is missed where its bracket opens.
    Adjustment {
        file: "quickjs.c",
        find: r"                emit_source_loc_at(s, identifier_line_num, identifier_col_num);",
        put: r"                if (accept_lparen && s->token.val == '(')
                    emit_source_loc(s);
                else
                    emit_source_loc_at(s, identifier_line_num, identifier_col_num);",
        times: 1,
    },
    // What a pattern (`const { a } = x`) can't take apart is told at the last place of its initializer, though the
    // pattern's code comes first: its place is written when the initializer is known.
    Adjustment {
        file: "quickjs.c",
        find: r"    dbuf_putc(bc, OP_source_loc);
    dbuf_put_u32(bc, line_num);
    dbuf_put_u32(bc, col_num);
}",
        put: r"    dbuf_putc(bc, OP_source_loc);
    dbuf_put_u32(bc, line_num);
    dbuf_put_u32(bc, col_num);
    fd->brunt_last_line = line_num;
    fd->brunt_last_col = col_num;
}",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"typedef struct JSFunctionDef {
    JSContext *ctx;",
        put: r"typedef struct JSFunctionDef {
    /* the place that was told last, 0 before the first */
    int brunt_last_line, brunt_last_col;
    JSContext *ctx;",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"    assign_addr = s->cur_func->byte_code.size;
    if (s->token.val == '{') {",
        put: r"    assign_addr = s->cur_func->byte_code.size;
    JSFunctionDef *brunt_fd = s->cur_func;
    size_t brunt_at = brunt_fd->byte_code.size + 1;
    emit_source_loc_at(s, brunt_fd->brunt_last_line ? brunt_fd->brunt_last_line : brunt_fd->line_num,
                       brunt_fd->brunt_last_line ? brunt_fd->brunt_last_col : brunt_fd->col_num);
    if (s->token.val == '{') {",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r"        if (hasval)
            emit_op(s, OP_drop);
        if (js_parse_assign_expr(s))
            return -1;
        emit_goto(s, OP_goto, label_assign);",
        put: r"        if (hasval)
            emit_op(s, OP_drop);
        if (js_parse_assign_expr(s))
            return -1;
        put_u32(brunt_fd->byte_code.buf + brunt_at, brunt_fd->brunt_last_line);
        put_u32(brunt_fd->byte_code.buf + brunt_at + 4, brunt_fd->brunt_last_col);
        emit_goto(s, OP_goto, label_assign);",
        times: 1,
    },
    // A pattern without an initializer of its own takes the place of the one around it.
    Adjustment {
        file: "quickjs.c",
        find: r"        /* remove test and decrement label ref count */",
        put: r"        memset(brunt_fd->byte_code.buf + brunt_at - 1, OP_nop, 9);
        /* remove test and decrement label ref count */",
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
