//! dev only
fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args[1] == "run-isolated" {
        let stdin = std::io::stdin().lock();
        rewright_driver::isolate::serve(stdin, std::io::stdout().lock()).unwrap();
        return;
    }
    use rewright_driver::clif::{export::export, import::import, names::Names};
    let mut program = rewright_typeprop::Universe::default();
    let names = Names::new(&mut program);
    let files = rewright_driver::difftest::collect(&args[1..].iter().map(Into::into).collect::<Vec<_>>()).unwrap();
    let optimise = |file: &rewright_driver::clif::read::File| {
        file.functions
            .iter()
            .map(|f| {
                use rewright_driver::difftest::Change::*;
                let fisa = match file.accepts(&f.func) {
                    Ok(f) => f,
                    Err(e) => return PassedThrough(e),
                };
                let imported = match import(&f.func, &names, file.endianness()) {
                    Ok(f) => f,
                    Err(e) => return PassedThrough(e.to_string()),
                };
                match export(&imported.function, &f.func, &imported.payloads, &names, file.endianness(), fisa) {
                    Ok(f) => Optimised(Box::new(f)),
                    Err(e) => Failed(e.to_string()),
                }
            })
            .collect()
    };
    let config = rewright_driver::difftest::Config {
        program: std::env::current_exe().unwrap(),
        seconds: 10,
        reference: None,
        progress: &|| (),
    };
    let report = rewright_driver::difftest::difftest(&files, &optimise, &config);
    println!("{}", serde_json::to_string_pretty(&report).unwrap());
}
