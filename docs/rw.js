// Colours for blocks of `rw` in the book: a language for highlight.js, which mdBook brings along.
"use strict";

(function () {
    if (typeof hljs === "undefined") return;
    hljs.registerLanguage("rw", function (hljs) {
        return {
            keywords: {
                keyword:
                    "pack import type effect fact fn override rule infer ruleset schedule example unsafe dynamic host todo " +
                    "when removes because match let rewrite as pure effects cost requires spec commutative associative " +
                    "idempotent identity recurrence lazy model run saturate repeat limit at fires using becomes equals " +
                    "differs stays before do return if else const eval after is for in and or not",
                literal: "true false",
                built_in: "State i8 i16 i32 i64 i128 f32 f64 ptr",
            },
            contains: [
                hljs.COMMENT("//", "$"),
                hljs.QUOTE_STRING_MODE,
                { className: "meta", begin: /@[A-Za-z_][A-Za-z0-9_]*/ },
                { className: "number", begin: /\b(0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][+-]?[0-9_]+)?)\b/ },
            ],
        };
    });
    document.querySelectorAll("code.language-rw").forEach(function (block) {
        block.classList.remove("no-highlight");
        hljs.highlightBlock(block);
    });
})();
