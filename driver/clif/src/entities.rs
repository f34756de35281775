//! What instructions name beside values and blocks: the same in every copy of a function.

/// The methods of an `InstructionMapper` for entities that stay as they are.
macro_rules! entities_stay {
    () => {
        $crate::entities::entities_stay! {
            map_global_value GlobalValue, map_jump_table JumpTable, map_block_call BlockCall, map_func_ref FuncRef,
            map_sig_ref SigRef, map_stack_slot StackSlot, map_dynamic_stack_slot DynamicStackSlot,
            map_constant Constant, map_immediate Immediate
        }
    };
    ($($method:ident $entity:ident),+) => {$(
        fn $method(&mut self, entity: cranelift_codegen::ir::$entity) -> cranelift_codegen::ir::$entity {
            entity
        }
    )+};
}

pub(crate) use entities_stay;
