//! Passes on what rb-sys learned of the Ruby that is built for: its version, and the linker's flags.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    rb_sys_env::activate()?;
    Ok(())
}
