//! Functions of a module with constants for some of their parameters.

use super::ModuleOptimiser;
use rewright_cfg_skeleton::ir::specialise::{SpecialiseError, name_for, number, specialise};
use rewright_typeprop::Constant;

impl ModuleOptimiser {
    /// Adds a function that is another one of the module with constants for some of its parameters (`None`: it stays
    /// one); gives its index. It is called `name`, or like the general one with a number. The general one stays, unless
    /// `name` is its own: then the new one takes its place.
    ///
    /// # Errors
    /// There is no such function, constants do not fit, or the general one cannot go.
    pub fn specialise(
        &mut self,
        function: &str,
        arguments: &[Option<Constant>],
        name: Option<&str>,
    ) -> Result<usize, SpecialiseError> {
        let general = self.function(function).ok_or_else(|| SpecialiseError::NoFunction(function.to_string()))?;
        let f = &self.module.functions[general];
        let params = f.block(f.entry()).params.iter().map(|param| f.ty(*param));
        let mut numbers = vec![];
        for (position, (argument, ty)) in (1..).zip(arguments.iter().zip(params)) {
            let fits = argument.as_ref().map(|constant| {
                let ty_name = || self.universe().types.display(ty).to_string();
                number(constant, ty, self.universe()).ok_or_else(|| SpecialiseError::Type { position, ty: ty_name() })
            });
            numbers.push(fits.transpose()?);
        }
        // Arguments without a parameter are counted.
        numbers.resize(arguments.len(), None);
        self.add_specialised(general, &numbers, name)
    }

    /// The same, with constants as functions hold them.
    pub(super) fn add_specialised(
        &mut self,
        general: usize,
        arguments: &[Option<i64>],
        name: Option<&str>,
    ) -> Result<usize, SpecialiseError> {
        let names: Vec<String> = self.module.functions.iter().map(|f| f.name.clone()).collect();
        let name = name_for(&names[general], name, &names)?;
        let replaces = name == names[general];
        if replaces && self.module.bodies.values().any(|body| *body == general) {
            return Err(SpecialiseError::Called(name));
        }
        let f = specialise(&self.module.functions[general], &name, arguments, self.universe())?;
        let index = if replaces { general } else { names.len() };
        let lines = self.module.lines.get(general).cloned().unwrap_or_default();
        self.module.functions.splice(index..index + usize::from(replaces), [f]);
        self.module.lines.resize(names.len(), vec![]);
        self.module.lines.splice(index..index + usize::from(replaces), [lines]);
        Ok(index)
    }
}
