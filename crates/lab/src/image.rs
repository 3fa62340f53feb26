/// x
pub fn write_image() {}
