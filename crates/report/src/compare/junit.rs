//! JUnit's XML, as CI servers read it: a row a test case, of the class of its entry.

use super::cases::{Case, case, said};
use super::gate;
use super::groups::Names;
use super::words;
use crate::Error;
use crate::plain::xml;
use compare::{Comparison, Row};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;

/// What the suites are called.
const NAME: &str = "kentry compare";

pub(super) fn render(compared: &Comparison) -> Result<Vec<u8>, Error> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    write(&mut writer, compared).map_err(|error| Error::Xml(error.to_string()))?;
    let mut out = writer.into_inner();
    out.push(b'\n');
    Ok(out)
}

fn write(writer: &mut Writer<Vec<u8>>, compared: &Comparison) -> io::Result<()> {
    let of =
        |wanted: Case| compared.rows.iter().filter(|row| case(compared, row) == wanted).count().to_string();
    let tests = if compared.refused { 1 } else { compared.rows.len() }.to_string();
    let (failures, skipped) = (of(Case::Failed), of(Case::Skipped));
    let errors = if compared.refused { "1" } else { "0" };
    let counts = [
        ("name", NAME),
        ("tests", &tests),
        ("failures", &failures),
        ("errors", errors),
        ("skipped", &skipped),
    ];
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer.create_element("testsuites").with_attributes(counts).write_inner_content(|writer| {
        let suite = writer.create_element("testsuite").with_attributes(counts);
        suite.write_inner_content(|writer| {
            properties(writer, compared)?;
            match words::refusal(compared) {
                Some(why) => refused(writer, &why),
                None => rows(writer, compared),
            }
        })?;
        Ok(())
    })?;
    Ok(())
}

/// What is compared, what else differs, the answer.
fn properties(writer: &mut Writer<Vec<u8>>, compared: &Comparison) -> io::Result<()> {
    let mut properties = vec![
        ("base".to_owned(), words::side(&compared.base)),
        ("new".to_owned(), words::side(&compared.new)),
        ("answer".to_owned(), words::answer(compared)),
    ];
    properties.extend(words::history(compared).map(|history| ("history".to_owned(), history)));
    properties.extend(words::partial(compared).map(|partial| ("partial".to_owned(), partial)));
    properties.extend(compared.gate.as_ref().map(|gate| ("gate".to_owned(), gate::result(compared, gate))));
    properties.extend(compared.confounders.iter().map(|confounder| {
        let name = format!("{}: {}", words::severity(confounder.severity), confounder.id);
        (name, format!("{}. {}", words::values(confounder, true), confounder.meaning))
    }));
    writer.create_element("properties").write_inner_content(|writer| {
        for (name, value) in &properties {
            let attributes = [("name", xml(name)), ("value", xml(value))];
            let attributes = attributes.each_ref().map(|(key, value)| (*key, value.as_str()));
            writer.create_element("property").with_attributes(attributes).write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

fn refused(writer: &mut Writer<Vec<u8>>, why: &str) -> io::Result<()> {
    let names = [("classname", NAME), ("name", "comparable")];
    writer.create_element("testcase").with_attributes(names).write_inner_content(|writer| {
        let message = xml(why);
        let error = [("message", message.as_str()), ("type", "not-comparable")];
        writer.create_element("error").with_attributes(error).write_empty()?;
        Ok(())
    })?;
    Ok(())
}

fn rows(writer: &mut Writer<Vec<u8>>, compared: &Comparison) -> io::Result<()> {
    let names = Names::of(compared);
    compared.rows.iter().try_for_each(|row| test(writer, compared, row, &names))
}

fn test(writer: &mut Writer<Vec<u8>>, compared: &Comparison, row: &Row, names: &Names) -> io::Result<()> {
    let (entry, operation, said) = (xml(&row.entry), xml(&names.operation(row)), xml(&said(compared, row)));
    let test = writer.create_element("testcase");
    let test = test.with_attributes([("classname", entry.as_str()), ("name", operation.as_str())]);
    test.write_inner_content(|writer| {
        let message = ("message", said.as_str());
        match case(compared, row) {
            Case::Passed => {
                writer.create_element("system-out").write_text_content(BytesText::new(&said))?;
            }
            Case::Skipped => {
                writer.create_element("skipped").with_attribute(message).write_empty()?;
            }
            Case::Failed => {
                let failure = [message, ("type", row.verdict.name())];
                writer.create_element("failure").with_attributes(failure).write_empty()?;
            }
        }
        Ok(())
    })?;
    Ok(())
}
