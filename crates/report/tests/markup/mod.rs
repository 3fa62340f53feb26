//! What a picture is made of.

/// The tags of a picture, without what stands in them; it must be well-formed.
pub fn tags(svg: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(svg);
    let mut tags = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Start(tag) | quick_xml::events::Event::Empty(tag) => {
                let attributes: Vec<String> =
                    tag.attributes().map(|attribute| attribute.unwrap().key.as_ref().to_owned()).collect();
                let name = tag.name().as_ref().to_owned();
                tags.push(format!("{name} {}", attributes.join(" ")));
            }
            quick_xml::events::Event::Eof => return tags,
            _ => {}
        }
    }
}
