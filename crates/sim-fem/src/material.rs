//! Materials and cross-sections.

use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// A number that no structure can be made of.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{field} = {value}, must be {requirement}")]
pub struct ValueError {
    /// Field name.
    pub field: &'static str,
    /// Value found.
    pub value: f64,
    /// What it must be.
    pub requirement: &'static str,
}

pub(crate) fn positive(field: &'static str, value: f64) -> Result<(), ValueError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(ValueError { field, value, requirement: "positive and finite" })
}

/// A relative tolerance: one that leaves more than a hundredth solves nothing.
pub(crate) fn tolerance(field: &'static str, value: f64) -> Result<(), ValueError> {
    if value > 0.0 && value <= 0.01 {
        return Ok(());
    }
    Err(ValueError { field, value, requirement: "above 0 and at most 0.01" })
}

pub(crate) fn not_negative(field: &'static str, value: f64) -> Result<(), ValueError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(ValueError { field, value, requirement: "zero or positive, and finite" })
}

pub(crate) fn finite(field: &'static str, value: f64) -> Result<(), ValueError> {
    if value.is_finite() {
        return Ok(());
    }
    Err(ValueError { field, value, requirement: "finite" })
}

/// A linear elastic, isotropic material.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Material {
    /// Young's modulus in Pa, > 0.
    pub youngs_modulus: f64,
    /// Poisson's ratio, -1 < ν <= 0.5; the shear modulus is E / (2 (1 + ν)).
    #[serde(default = "default_poissons_ratio")]
    pub poissons_ratio: f64,
    /// Density in kg/m³, >= 0 (0 = massless).
    #[serde(default)]
    pub density: f64,
    /// Stress in Pa at which a member counts as fully used; none = no utilisation.
    #[serde(default)]
    pub strength: Option<f64>,
}

fn default_poissons_ratio() -> f64 {
    0.3
}

impl Material {
    /// A massless material with ν = 0.3 and no strength.
    #[must_use]
    pub fn new(youngs_modulus: f64) -> Self {
        Self { youngs_modulus, poissons_ratio: default_poissons_ratio(), density: 0.0, strength: None }
    }

    /// The same with a density in kg/m³.
    #[must_use]
    pub fn with_density(self, density: f64) -> Self {
        Self { density, ..self }
    }

    /// The same with a Poisson's ratio.
    #[must_use]
    pub fn with_poissons_ratio(self, poissons_ratio: f64) -> Self {
        Self { poissons_ratio, ..self }
    }

    /// The same with a strength in Pa.
    #[must_use]
    pub fn with_strength(self, strength: f64) -> Self {
        Self { strength: Some(strength), ..self }
    }

    /// Shear modulus in Pa.
    #[must_use]
    pub fn shear_modulus(&self) -> f64 {
        self.youngs_modulus / (2.0 * (1.0 + self.poissons_ratio))
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`ValueError`] naming the first field out of range.
    pub fn validate(&self) -> Result<(), ValueError> {
        positive("youngs_modulus", self.youngs_modulus)?;
        if !(self.poissons_ratio > -1.0 && self.poissons_ratio <= 0.5) {
            return Err(ValueError {
                field: "poissons_ratio",
                value: self.poissons_ratio,
                requirement: "above -1 and at most 0.5",
            });
        }
        not_negative("density", self.density)?;
        self.strength.map_or(Ok(()), |strength| positive("strength", strength))
    }
}

/// The shape of a cross-section. The local y and z axes are principal; see [`crate::beam::Orientation`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Section {
    /// Solid circle.
    Round {
        /// Diameter in m.
        diameter: f64,
    },
    /// Circular tube.
    Tube {
        /// Outer diameter in m.
        outer_diameter: f64,
        /// Wall thickness in m, at most half the outer diameter.
        thickness: f64,
    },
    /// Solid rectangle.
    Rectangle {
        /// Extent along local y in m.
        width: f64,
        /// Extent along local z in m.
        height: f64,
    },
    /// Doubly symmetric I, web along local z.
    I {
        /// Flange width along local y in m.
        width: f64,
        /// Overall height along local z in m.
        height: f64,
        /// Flange thickness in m.
        flange_thickness: f64,
        /// Web thickness in m.
        web_thickness: f64,
    },
    /// Given numbers.
    Numbers(SectionProperties),
}

/// What the mechanics needs of a cross-section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SectionProperties {
    /// Area in m².
    pub area: f64,
    /// Second moment of area about local y in m⁴ (bending in the x-z plane).
    pub inertia_y: f64,
    /// Second moment of area about local z in m⁴ (bending in the x-y plane).
    pub inertia_z: f64,
    /// Torsion constant in m⁴.
    pub torsion: f64,
    /// Shear area along local y in m² (κA); 0 = rigid in shear.
    pub shear_area_y: f64,
    /// Shear area along local z in m² (κA); 0 = rigid in shear.
    pub shear_area_z: f64,
    /// Distance of the extreme fibre along local y in m; 0 = unknown, bending stress is then left out.
    pub extreme_y: f64,
    /// Distance of the extreme fibre along local z in m; 0 = unknown, bending stress is then left out.
    pub extreme_z: f64,
}

impl Section {
    /// A section for members without bending.
    #[must_use]
    pub fn area(area: f64) -> Self {
        Self::Numbers(SectionProperties { area, ..SectionProperties::default() })
    }

    /// The numbers of the shape.
    ///
    /// Shear areas: Cowper (J. Appl. Mech. 33, 1966) evaluated at ν = 0, so that a section needs no material (6/7 solid round,
    /// 1/2 thin tube, 5/6 rectangle); the web area along the web of an I. The torsion constant of the
    /// rectangle is Roark's fit (0.4 % at worst), of the I the sum of thin strips.
    ///
    /// # Errors
    /// [`ValueError`] naming the first field out of range.
    pub fn properties(&self) -> Result<SectionProperties, ValueError> {
        match *self {
            Self::Round { diameter } => {
                positive("diameter", diameter)?;
                let inertia = PI * diameter.powi(4) / 64.0;
                let area = PI * diameter * diameter / 4.0;
                Ok(round(area, inertia, 6.0 / 7.0, diameter / 2.0))
            }
            Self::Tube { outer_diameter, thickness } => {
                positive("outer_diameter", outer_diameter)?;
                positive("thickness", thickness)?;
                let inner = outer_diameter - 2.0 * thickness;
                not_negative("inner diameter (outer_diameter - 2 thickness)", inner)?;
                let inertia = PI * (outer_diameter.powi(4) - inner.powi(4)) / 64.0;
                let area = PI * (outer_diameter + inner) * (outer_diameter - inner) / 4.0;
                // Cowper's factor at ν = 0 with m = inner/outer: 6 (1+m²)² / (7 (1+m²)² + 20 m²), 6/7 when solid.
                let m2 = (inner / outer_diameter).powi(2);
                let kappa = 6.0 * (1.0 + m2).powi(2) / (7.0 * (1.0 + m2).powi(2) + 20.0 * m2);
                Ok(round(area, inertia, kappa, outer_diameter / 2.0))
            }
            Self::Rectangle { width, height } => {
                positive("width", width)?;
                positive("height", height)?;
                let (long, short) = (width.max(height), width.min(height));
                let ratio = short / long;
                let torsion =
                    long * short.powi(3) * (1.0 / 3.0 - 0.21 * ratio * (1.0 - ratio.powi(4) / 12.0));
                let area = width * height;
                Ok(SectionProperties {
                    area,
                    inertia_y: width * height.powi(3) / 12.0,
                    inertia_z: height * width.powi(3) / 12.0,
                    torsion,
                    shear_area_y: 5.0 / 6.0 * area,
                    shear_area_z: 5.0 / 6.0 * area,
                    extreme_y: width / 2.0,
                    extreme_z: height / 2.0,
                })
            }
            Self::I { width, height, flange_thickness, web_thickness } => {
                positive("width", width)?;
                positive("height", height)?;
                positive("flange_thickness", flange_thickness)?;
                positive("web_thickness", web_thickness)?;
                let web = height - 2.0 * flange_thickness;
                positive("web height (height - 2 flange_thickness)", web)?;
                not_negative("flange overhang (width - web_thickness)", width - web_thickness)?;
                Ok(SectionProperties {
                    area: 2.0 * width * flange_thickness + web * web_thickness,
                    inertia_y: (width * height.powi(3) - (width - web_thickness) * web.powi(3)) / 12.0,
                    inertia_z: (2.0 * flange_thickness * width.powi(3) + web * web_thickness.powi(3)) / 12.0,
                    torsion: (2.0 * width * flange_thickness.powi(3)
                        + (height - flange_thickness) * web_thickness.powi(3))
                        / 3.0,
                    shear_area_y: 5.0 / 6.0 * 2.0 * width * flange_thickness,
                    shear_area_z: web * web_thickness,
                    extreme_y: width / 2.0,
                    extreme_z: height / 2.0,
                })
            }
            Self::Numbers(properties) => {
                positive("area", properties.area)?;
                for (field, value) in [
                    ("inertia_y", properties.inertia_y),
                    ("inertia_z", properties.inertia_z),
                    ("torsion", properties.torsion),
                    ("shear_area_y", properties.shear_area_y),
                    ("shear_area_z", properties.shear_area_z),
                    ("extreme_y", properties.extreme_y),
                    ("extreme_z", properties.extreme_z),
                ] {
                    not_negative(field, value)?;
                }
                Ok(properties)
            }
        }
    }
}

fn round(area: f64, inertia: f64, kappa: f64, radius: f64) -> SectionProperties {
    SectionProperties {
        area,
        inertia_y: inertia,
        inertia_z: inertia,
        torsion: 2.0 * inertia,
        shear_area_y: kappa * area,
        shear_area_z: kappa * area,
        extreme_y: radius,
        extreme_z: radius,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_agree_with_each_other() {
        let solid = Section::Round { diameter: 0.2 }.properties().unwrap();
        let thick = Section::Tube { outer_diameter: 0.2, thickness: 0.1 }.properties().unwrap();
        assert!((solid.area - thick.area).abs() < 1e-16 && (solid.inertia_y - thick.inertia_y).abs() < 1e-18);
        // An I whose web is as wide as its flanges is a rectangle.
        let block = Section::Rectangle { width: 0.1, height: 0.3 }.properties().unwrap();
        let filled = Section::I { width: 0.1, height: 0.3, flange_thickness: 0.05, web_thickness: 0.1 };
        let filled = filled.properties().unwrap();
        for (a, b) in [
            (block.area, filled.area),
            (block.inertia_y, filled.inertia_y),
            (block.inertia_z, filled.inertia_z),
        ] {
            assert!((a - b).abs() < 1e-14 * a, "{a} {b}");
        }
        // Saint-Venant's series for a square: J = 0.1406 a^4.
        let square = Section::Rectangle { width: 1.0, height: 1.0 }.properties().unwrap();
        assert!((square.torsion - 0.1406).abs() < 0.0006, "{}", square.torsion);
    }

    #[test]
    fn ranges_are_named() {
        let error = Material::new(2.1e11).with_poissons_ratio(2.0).validate().unwrap_err();
        assert_eq!(error.to_string(), "poissons_ratio = 2, must be above -1 and at most 0.5");
        let error = Section::Tube { outer_diameter: 0.1, thickness: 0.06 }.properties().unwrap_err();
        assert!(error.to_string().starts_with("inner diameter"), "{error}");
        assert!(Material::new(f64::NAN).validate().is_err());
        let unknown: Result<Material, _> = serde_json::from_str(r#"{"youngs_modulus": 1, "densty": 2}"#);
        assert!(unknown.unwrap_err().to_string().contains("densty"));
    }
}
