[(rule_item) (infer_item) (fn_item) (fact_item) (example_item) (block)] @local.scope

(parameter name: (identifier) @local.definition)
(type_parameter name: (identifier) @local.definition)
(match_statement name: (identifier) @local.definition)
(let_statement name: (identifier) @local.definition)
(assignment name: (identifier) @local.definition)

(path (identifier) @local.reference)
