use super::*;
use std::fmt::Write;

fn read(text: &str, mend: &[Mending]) -> Result<Mesh, MeshError> {
    Mesh::parse_obj("m.obj", text, mend)
}

const SQUARES: &str =
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 1 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nf 1 2 3 4\nf 5 6 7 8\n";

#[test]
fn m76_seams_are_merged_by_name() {
    let error = read(SQUARES, &[]).unwrap_err().to_string();
    assert!(
        error.contains("line 5") && error.contains("line 2") && error.contains("merge_duplicates"),
        "{error}"
    );
    let mesh = read(SQUARES, &[Mending::MergeDuplicates]).unwrap();
    assert_eq!((mesh.positions().len(), mesh.report().pieces), (6, 1));
    assert_eq!(mesh.vertex_of(), [0, 1, 2, 3, 1, 4, 5, 2].map(Some));
    assert!(mesh.mended()[0].starts_with("2 merged"), "{:?}", mesh.mended());
    assert_eq!(mesh.report().boundary_loops, 1);
    let apart = read(SQUARES, &[Mending::KeepDuplicates]).unwrap();
    assert_eq!((apart.positions().len(), apart.report().pieces), (8, 2));
}

const PENTAGON: &str = "v 0 0 0\nv 1 0 0\nv 1.5 1 0\nv 0.5 2 0\nv -0.5 1 0\nvt 0 0\nvn 0 0 1\n";

#[test]
fn m78_quads_triangles_and_pentagons_with_and_without_slashes() {
    let slashed = |face: &str| format!(" {}/1/1", face.replace(' ', "/1/1 "));
    let bare = |face: &str| format!(" {}//1", face.replace(' ', "//1 "));
    for (face, triangles, shear) in [
        ("1 2 3 4", vec![[0, 1, 2], [0, 2, 3]], 2),
        ("3 4 5", vec![[2, 3, 4]], 0),
        ("1 2 3 4 5", vec![[0, 1, 2], [0, 2, 3], [0, 3, 4]], 2),
    ] {
        for corners in [format!(" {face}"), slashed(face), bare(face)] {
            let mesh = read(&format!("{PENTAGON}f{corners}\n"), &[Mending::DropUnreferenced]).unwrap();
            let original =
                |t: &[u32; 3]| t.map(|i| mesh.vertex_of().iter().position(|v| *v == Some(i)).unwrap() as u32);
            assert_eq!(mesh.triangles().iter().map(original).collect::<Vec<_>>(), triangles, "{corners}");
            let part = mesh.topology("m.obj").unwrap();
            assert_eq!(part.segments.len(), face.split(' ').count(), "edges of the polygon only");
            assert_eq!(part.shear.len(), shear);
        }
    }
}

#[test]
fn m78_mixed_faces_in_one_file() {
    let text = format!("{PENTAGON}v 2 2 1\nf 1 2 3 4 5\nf 4 3 6\nf 3 2 6\n");
    let mesh = read(&text, &[]).unwrap();
    let report = mesh.report();
    assert_eq!((report.triangles, report.quads, report.polygons), (2, 0, 1));
    // Shoelace: pentagon (0,0) (1,0) (1.5,1) (0.5,2) (-0.5,1) has area 2.5; the triangles by cross products.
    let cross = |a: [f64; 3], b: [f64; 3]| {
        ((a[1] * b[2] - a[2] * b[1]).powi(2)
            + (a[2] * b[0] - a[0] * b[2]).powi(2)
            + (a[0] * b[1] - a[1] * b[0]).powi(2))
        .sqrt()
    };
    let area = 2.5
        + 0.5 * cross([1.0, -1.0, 0.0], [1.5, 0.0, 1.0])
        + 0.5 * cross([-0.5, -1.0, 0.0], [0.5, 1.0, 1.0]);
    assert!((report.area - area).abs() < 1e-12, "{} {area}", report.area);
}

#[test]
fn m80_indices_are_checked_by_line() {
    let square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";
    let mesh = read(&format!("{square}f\t-4 -3\t-2 -1\n"), &[]).unwrap();
    assert_eq!(mesh.topology("m.obj").unwrap().quads, [[0, 1, 2, 3]]);
    for (text, line, fragment) in [
        ("f 1 2 99\n", 5, "vertex 99 does not exist, there are 4"),
        ("f 1 2 0\n", 5, "start at 1"),
        ("f 1 2 -5\n", 5, "vertex -5 does not exist"),
        ("f 1 2\n", 5, "at least 3 corners, found 2"),
        ("f 1 2 3.5\n", 5, "3.5"),
        ("f 1 2 99999999999999999999\n", 5, "99999999999999999999"),
        ("f 1 2 4294967297\n", 5, "4294967297"),
        ("v 1 2\nf 1 2 3\n", 5, "3 coordinates, found 2"),
        ("v 1 nan 3\n", 5, "`nan`"),
        ("v 1 x 3\n", 5, "`x`"),
    ] {
        match read(&format!("{square}{text}"), &[]) {
            Err(MeshError::Syntax { line: found, message, .. }) => {
                assert_eq!(found, line, "{text}");
                assert!(message.contains(fragment), "{text}: {message}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    assert!(matches!(read("", &[]), Err(MeshError::Empty { vertices: 0, .. })));
    assert!(matches!(read(square, &[]), Err(MeshError::Empty { vertices: 4, .. })));
}

const TEE: &str = "v 0 0 0\nv 0 0 1\nv 1 0 0\nv -1 0 0\nv 0 1 0\nf 1 2 3\nf 2 1 4\nf 1 2 5\n";

#[test]
fn m82_branching_edges_are_named_and_get_no_hinge() {
    let error = read(TEE, &[]).unwrap_err().to_string();
    assert!(
        error.contains("lines 1 and 2 has 3 faces (lines 6, 7, 8)") && error.contains("open_branches"),
        "{error}"
    );
    let mesh = read(TEE, &[Mending::OpenBranches]).unwrap();
    assert!(mesh.mended()[0].contains("3 faces"), "{:?}", mesh.mended());
    let part = mesh.topology("m.obj").unwrap();
    assert_eq!((part.segments.len(), part.triangles.len(), part.hinges.len()), (7, 3, 0));
}

#[test]
fn m82_flipped_neighbors_are_found_and_turned() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 2 1 0\nf 1 2 3\nf 2 3 4\nf 2 5 4\n";
    let error = read(text, &[]).unwrap_err().to_string();
    assert!(error.contains("line 7: face wound against its neighbor of line 6"), "{error}");
    let mesh = read(text, &[Mending::UnifyWinding]).unwrap();
    assert_eq!(mesh.triangles(), [[0, 1, 2], [3, 2, 1], [1, 4, 3]]);
}

#[test]
fn m82_one_sided_surfaces_are_named() {
    // A Möbius strip of five quads.
    let mut text = String::new();
    for i in 0..5 {
        let (t, h) = (std::f64::consts::TAU * f64::from(i) / 5.0, std::f64::consts::PI * f64::from(i) / 5.0);
        for side in [-0.3, 0.3] {
            let r = 1.0 + side * h.cos();
            writeln!(text, "v {} {} {}", r * t.cos(), r * t.sin(), side * h.sin()).unwrap();
        }
    }
    text.push_str("f 1 3 4 2\nf 3 5 6 4\nf 5 7 8 6\nf 7 9 10 8\nf 9 2 1 10\n");
    let error = read(&text, &[]).unwrap_err().to_string();
    assert!(error.contains("one side only"), "{error}");
    assert!(read(&text, &[Mending::UnifyWinding]).unwrap().mended()[0].contains("winding left"));
}

#[test]
fn m83_unused_vertices_are_dropped_by_name() {
    let text = "v 0 0 0\nv 9 9 9\nv 1 0 0\nv 0 1 0\nf 1 3 4\n";
    let error = read(text, &[]).unwrap_err().to_string();
    assert!(error.contains("line 2: vertex in no face") && error.contains("drop_unreferenced"), "{error}");
    let mesh = read(text, &[Mending::DropUnreferenced]).unwrap();
    assert_eq!(mesh.positions(), [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    assert_eq!(mesh.vertex_of(), [Some(0), None, Some(1), Some(2)]);
    assert!((mesh.report().area - 0.5).abs() < 1e-15);
    assert_eq!(mesh.report().bounds[1], [1.0, 1.0, 0.0]);
}

#[test]
fn degenerate_and_duplicate_faces_are_dropped_by_name() {
    let square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.5 1e-9 0\nf 1 2 3 4\n";
    for (face, mending, fragment) in [
        ("f 1 2 2 3", Mending::DropDegenerate, "line 7: degenerate face (a corner is repeated)"),
        ("f 1 2 5", Mending::DropDegenerate, "line 7: degenerate face (it has no area)"),
        ("f 2 3 4 1", Mending::DropDuplicateFaces, "line 7: the same face as in line 6"),
    ] {
        let text = format!("{square}{face}\n");
        let error = read(&text, &[Mending::DropUnreferenced]).unwrap_err().to_string();
        assert!(error.contains(fragment) && error.contains(mending.word()), "{error}");
        let mesh = read(&text, &[Mending::DropUnreferenced, mending]).unwrap();
        assert_eq!(mesh.face_count(), 1, "{face}");
    }
    let only = "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n";
    assert!(matches!(
        read(only, &[Mending::DropDegenerate, Mending::DropUnreferenced]),
        Err(MeshError::Empty { .. })
    ));
}

#[test]
fn objects_groups_and_comments_keep_one_numbering() {
    let text = "# a\no a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\no b\nusemtl m\nv 1 1 0\ng c\nf 2 4 3\nl 1 2\n";
    let mesh = read(text, &[]).unwrap();
    assert_eq!(mesh.triangles(), [[0, 1, 2], [1, 3, 2]]);
    assert_eq!(mesh.positions()[3], [1.0, 1.0, 0.0]);
}
