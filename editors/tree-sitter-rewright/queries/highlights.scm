; Names in groups that all editors know.

(comment) @comment
(string) @string
(escape) @string.escape
[(integer) (float)] @number
(boolean) @boolean
(wildcard) @variable.builtin

[
  "import" "type" "effect" "fact" "fn" "override" "rule" "infer" "ruleset" "schedule" "example"
  "pack" "as" "model" "at" "limit" "using" "fires" "before" "after" "else" "const"
  "match" "let" "rewrite" "run" "saturate" "repeat" "do" "return" "if"
  "effects" "cost" "requires" "spec" "when" "removes" "because"
  "becomes" "equals" "differs" "stays" "commutative" "associative" "idempotent" "identity" "recurrence"
] @keyword
(purity) @keyword
["host" "unsafe" "dynamic" "todo"] @keyword.modifier
["or" "and" "not" "is" "for" "in" "eval"] @keyword.operator

["=>" "<=>" "->" "<:" "..." "=" ":" "|"] @operator
(binary operator: _ @operator)
(unary operator: _ @operator)
(postfix operator: _ @operator)
(section operator: _ @operator)
["(" ")" "{" "}"] @punctuation.bracket
["," "."] @punctuation.delimiter

(attribute "@" @attribute name: (identifier) @attribute)

(pack_clause name: (path) @module)
(import pack: (path) @module)
(import alias: (identifier) @module)
(ruleset_item name: (identifier) @module)
(schedule_item name: (identifier) @module)
(run_step ruleset: (path) @module)
(using (path) @module)

(type name: (path) @type)
(type_item name: (identifier) @type)
(family_item name: (identifier) @type)
(type_parameter name: (identifier) @type)

(fn_item name: (identifier) @function)
(override_item name: (path) @function)
(call function: (path) @function)
(rule_item name: (identifier) @function)
(infer_item name: (identifier) @function)
(fires (path) @function)
(fact_item name: (identifier) @property)
(effect_item name: (identifier) @property)
(effect name: (path) @property)
(effect region: (path) @property)

(parameter name: (identifier) @variable.parameter)
(match_statement name: (identifier) @variable)
(let_statement name: (identifier) @variable)
(assignment name: (identifier) @variable)
