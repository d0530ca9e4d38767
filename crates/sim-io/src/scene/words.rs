//! Values that are one of several forms: tables with a `kind`, and fields that take a word, a number or a list.

/// An enum whose variants are told apart by a `kind` field, each a struct of its own.
///
/// Unlike serde's own internally tagged enums this keeps the path of a field that is wrong, as long as `kind` comes first;
/// the reader of scenes sees to that. Any other order is read just as well, with the path of the table only.
macro_rules! kinds {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $word:literal => $variant:ident($inner:ty)),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $($(#[$vmeta])* $variant($inner)),+
        }

        impl $name {
            /// Every word that `kind` takes.
            pub const KINDS: &'static [&'static str] = &[$($word),+];

            /// The word of this value.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $word),+ }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::{Error, MapAccess, Visitor, value::MapAccessDeserializer};
                use serde::Deserialize;
                struct Kinds;
                impl<'de> Visitor<'de> for Kinds {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a table with a `kind`")
                    }
                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        let mut before = toml::Table::new();
                        while let Some(key) = map.next_key::<String>()? {
                            if key != "kind" {
                                before.insert(key, map.next_value()?);
                                continue;
                            }
                            let word: String = map.next_value()?;
                            if !before.is_empty() {
                                while let Some((key, value)) = map.next_entry::<String, toml::Value>()? {
                                    before.insert(key, value);
                                }
                            }
                            return match word.as_str() {
                                $($word => if before.is_empty() {
                                    <$inner>::deserialize(MapAccessDeserializer::new(map)).map($name::$variant)
                                } else {
                                    <$inner>::deserialize(before).map($name::$variant).map_err(A::Error::custom)
                                },)+
                                other => Err(A::Error::unknown_variant(other, $name::KINDS)),
                            };
                        }
                        Err(A::Error::missing_field("kind"))
                    }
                }
                deserializer.deserialize_map(Kinds)
            }
        }
    };
}
pub(crate) use kinds;
