//! `cargo run -p brunt-imports --example client -- openapi.yaml FOLDER`: writes the client of a document.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(document), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("wants a document and a folder".into());
    };
    let options = brunt_imports::openapi::Options::default();
    let client = brunt_imports::openapi::client(&std::fs::read(document)?, &options)?;
    std::fs::create_dir_all(&folder)?;
    for (path, bytes) in client.files {
        std::fs::write(std::path::Path::new(&folder).join(path), bytes)?;
    }
    Ok(())
}
