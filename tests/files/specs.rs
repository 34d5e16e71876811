//! Paths, names in files, and what a write does to what was there.

use portcullis::{HostTensor, files};

use super::{Folder, refused, same};

fn tensor(value: f32) -> HostTensor {
    HostTensor::new(&[1], vec![value]).unwrap()
}

#[test]
fn paths_that_are_no_tensor_files() {
    let folder = Folder::new("spec-paths");
    refused(
        files::read(folder.path("x.txt")),
        &["`.txt`", ".npy", ".safetensors"],
    );
    refused(files::read(folder.path("x")), &["no extension"]);
    assert!(files::read_tensor("").is_err());
    refused(files::read_tensor(".npz:x"), &["no extension"]);
    for name in ["x.npy", "x.npz", "x.safetensors"] {
        refused(files::read(folder.path(name)), &["no such file"]);
        std::fs::create_dir(folder.path(name)).unwrap();
        refused(files::read(folder.path(name)), &["directory"]);
        let tensors = [(
            if name == "x.npy" { "" } else { "t" }.to_string(),
            &tensor(1.0),
        )];
        refused(
            files::write(folder.path(name), &tensors),
            &["not a regular file"],
        );
    }
    refused(
        files::write_tensor(&folder.spec("no/x.npy"), &tensor(1.0)),
        &["folder", "create"],
    );
}

#[test]
fn names() {
    let folder = Folder::new("spec-names");
    let t = tensor(1.0);
    let npz = folder.spec("x.NPZ");
    files::write_tensor(&format!("{npz}:a:b.npz:c"), &t).unwrap();
    assert_eq!(files::read(&npz).unwrap()[0].0, "a:b.npz:c");
    same(
        &files::read_tensor(&format!("{npz}:a:b.npz:c")).unwrap(),
        &t,
    );
    same(&files::read_tensor(&npz).unwrap(), &t);

    refused(
        files::read_tensor(&folder.spec("x.npy:a")),
        &["no names", "leave"],
    );
    refused(files::write_tensor(&npz, &t), &["name the tensor"]);
    refused(
        files::write(folder.path("y.npy"), &[("a".into(), &t)]),
        &["`a`", ".npz"],
    );
    refused(files::write(folder.path("y.npy"), &[]), &["not 0"]);
    refused(
        files::write(folder.path("y.npz"), &[("a/".into(), &t)]),
        &["slash"],
    );
    refused(
        files::write_tensor(&folder.spec("y.safetensors:__metadata__"), &t),
        &["__metadata__", "rename"],
    );
    let long = "n".repeat(70_000);
    refused(
        files::write_tensor(&format!("{}:{long}", folder.spec("y.npz")), &t),
        &["cannot be written"],
    );
    assert_eq!(folder.names(), ["x.NPZ"]);
}

#[test]
fn outputs_of_one_file_go_together() {
    let folder = Folder::new("spec-group");
    std::fs::create_dir(folder.path("sub")).unwrap();
    let (a, b, c) = (tensor(1.0), tensor(2.0), tensor(3.0));
    files::write_all(&[
        (folder.spec("x.npz:a"), &a),
        (folder.spec("y.npy"), &b),
        (folder.spec("sub/../x.npz:c"), &c),
    ])
    .unwrap();
    let tensors = files::read(folder.path("x.npz")).unwrap();
    assert_eq!(tensors.len(), 2);
    same(&tensors[1].1, &c);
    same(&files::read_tensor(&folder.spec("y.npy")).unwrap(), &b);
}

#[test]
fn a_failure_leaves_everything_as_it_was() {
    let folder = Folder::new("spec-failure");
    let (old, new) = (tensor(1.0), tensor(2.0));
    files::write_tensor(&folder.spec("x.npz:a"), &old).unwrap();
    let twice = [
        (folder.spec("x.npz:a"), &new),
        (folder.spec("y.safetensors:b"), &new),
        (folder.spec("y.safetensors:b"), &new),
    ];
    refused(files::write_all(&twice), &["`b`"]);
    let twice = [
        (folder.spec("x.npz:a"), &new),
        (folder.spec("y.npy"), &new),
        (folder.spec("./y.npy"), &new),
    ];
    refused(files::write_all(&twice), &["one tensor"]);
    let nowhere = [
        (folder.spec("x.npz:a"), &new),
        (folder.spec("no/y.npy"), &new),
    ];
    refused(files::write_all(&nowhere), &["folder"]);
    same(&files::read_tensor(&folder.spec("x.npz")).unwrap(), &old);
    assert_eq!(folder.names(), ["x.npz"]);
}

#[test]
fn a_write_replaces_the_whole_file() {
    let folder = Folder::new("spec-replace");
    let spec = folder.spec("x.npz");
    let (old, new) = (tensor(1.0), tensor(2.0));
    files::write(&spec, &[("a".into(), &old), ("b".into(), &old)]).unwrap();
    files::write_tensor(&format!("{spec}:a"), &new).unwrap();
    same(&files::read_tensor(&spec).unwrap(), &new);
}

#[cfg(unix)]
#[test]
fn links_stay_and_read_only_files_too() {
    let folder = Folder::new("spec-links");
    let (old, new) = (tensor(1.0), tensor(2.0));
    files::write_tensor(&folder.spec("x.npy"), &old).unwrap();
    std::os::unix::fs::symlink(folder.path("x.npy"), folder.path("link.npy")).unwrap();
    files::write_tensor(&folder.spec("link.npy"), &new).unwrap();
    assert!(folder.path("link.npy").is_symlink());
    same(&files::read_tensor(&folder.spec("x.npy")).unwrap(), &new);

    let mut permissions = std::fs::metadata(folder.path("x.npy"))
        .unwrap()
        .permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(folder.path("x.npy"), permissions).unwrap();
    refused(
        files::write_tensor(&folder.spec("x.npy"), &old),
        &["read-only"],
    );
    same(&files::read_tensor(&folder.spec("x.npy")).unwrap(), &new);
}
