//! `--set a.b=c`: changes to a scene's tree before it is checked.

use super::error::{SceneError, nearest};
use super::source::steps;
use toml::{Table, Value};

/// Applies one `path=value` text. Tables in a list are named by index, `id` or `name`; the value is TOML, or else a plain word.
pub(crate) fn apply(tree: &mut Table, text: &str) -> Result<(), SceneError> {
    let refuse = |reason: String| SceneError::Override { text: text.to_owned(), reason };
    let (path, value) = text
        .split_once('=')
        .ok_or_else(|| refuse("needs the form path=value, e.g. part.rope.segments=40".into()))?;
    let steps = steps(path.trim());
    let Some((last, parents)) = steps.split_last() else {
        return Err(refuse("the path is empty".into()));
    };
    let value = parse(value.trim());
    let mut place = Place::Table(tree);
    for step in parents {
        place = place.enter(step).map_err(refuse)?;
    }
    place.set(last, value).map_err(refuse)
}

fn parse(text: &str) -> Value {
    format!("value = {text}")
        .parse::<Table>()
        .ok()
        .filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

enum Place<'a> {
    Table(&'a mut Table),
    List(&'a mut Vec<Value>),
}

impl<'a> Place<'a> {
    fn enter(self, step: &str) -> Result<Place<'a>, String> {
        let value = match self {
            Self::Table(table) => table.entry(step).or_insert_with(|| Value::Table(Table::new())),
            Self::List(list) => {
                let index = index_of(list, step)?;
                &mut list[index]
            }
        };
        match value {
            Value::Table(table) => Ok(Place::Table(table)),
            Value::Array(list) => Ok(Place::List(list)),
            other => Err(format!("`{step}` is a {}, not a table or a list", other.type_str())),
        }
    }

    fn set(self, step: &str, value: Value) -> Result<(), String> {
        match self {
            Self::Table(table) => {
                table.insert(step.to_owned(), value);
            }
            Self::List(list) => {
                let index = index_of(list, step)?;
                list[index] = value;
            }
        }
        Ok(())
    }
}

fn index_of(list: &[Value], step: &str) -> Result<usize, String> {
    if let Ok(index) = step.parse::<usize>() {
        return if index < list.len() {
            Ok(index)
        } else {
            Err(format!("index {index} is out of range, the list has {} entries", list.len()))
        };
    }
    let names: Vec<Option<&str>> = list
        .iter()
        .map(|entry| ["id", "name", "probe"].iter().find_map(|key| entry.get(key)?.as_str()))
        .collect();
    names.iter().position(|name| *name == Some(step)).ok_or_else(|| {
        let known: Vec<&str> = names.iter().flatten().copied().collect();
        match nearest(step, known.iter().copied()) {
            Some(near) => format!("no entry is called `{step}`; did you mean `{near}`?"),
            None => format!("no entry is called `{step}`; there are {}", known.join(", ")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Table {
        "[time]\nduration = 1\n[[part]]\nid = \"rope\"\nsegments = 4\nfrom = [0, 0, 0]\n".parse().unwrap()
    }

    #[test]
    fn fields_are_found_by_index_and_by_id() {
        let mut tree = tree();
        for text in ["time.duration=2.5", "part.rope.segments = 40", "part.0.from.1=3", "method.id=leapfrog"]
        {
            apply(&mut tree, text).unwrap();
        }
        assert_eq!(tree["time"]["duration"].as_float(), Some(2.5));
        assert_eq!(tree["part"][0]["segments"].as_integer(), Some(40));
        assert_eq!(tree["part"][0]["from"][1].as_integer(), Some(3));
        assert_eq!(tree["method"]["id"].as_str(), Some("leapfrog"));
    }

    #[test]
    fn what_cannot_be_set_is_an_error() {
        for (text, fragment) in [
            ("time.duration", "path=value"),
            ("part.rop.segments=4", "did you mean `rope`"),
            ("part.3.segments=4", "1 entries"),
            ("time.duration.x=1", "is a integer"),
            ("=1", "empty"),
        ] {
            let error = apply(&mut tree(), text).unwrap_err().to_string();
            assert!(error.contains(fragment), "{text}: {error}");
        }
    }
}
