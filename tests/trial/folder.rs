use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
};

use candor::verify::{Effect, Grade, Watch};
use tempfile::TempDir;

/// A world of files, compared by their contents.
pub(super) struct Folder {
    dir: TempDir,
    last: Option<BTreeMap<PathBuf, Vec<u8>>>,
    /// Looks that are left.
    light: usize,
}

impl Folder {
    pub(super) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), last: None, light: usize::MAX }
    }
}

impl Watch for Folder {
    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn look(&mut self, _: &[u32]) -> Result<Vec<Effect>, String> {
        self.light = self.light.checked_sub(1).ok_or("too dark")?;
        let mut now = BTreeMap::new();
        read(self.path(), Path::new(""), &mut now);
        let Some(before) = self.last.replace(now.clone()) else { return Ok(Vec::new()) };
        let effect = |path: &Path, grade, what: String| Effect::new(grade, "files", path.to_str().unwrap(), what);
        let mut effects = Vec::new();
        for (path, old) in &before {
            match now.get(path) {
                None => effects.push(effect(path, Grade::Lossy, "removed".into())),
                Some(new) if new == old => {}
                Some(new) if new.starts_with(old) => {
                    effects.push(effect(path, Grade::Additive, format!("appended {} bytes", new.len() - old.len())));
                }
                Some(_) => effects.push(effect(path, Grade::Lossy, "overwritten".into())),
            }
        }
        let new = now.keys().filter(|path| !before.contains_key(*path));
        effects.extend(new.map(|path| effect(path, Grade::Additive, "created".into())));
        Ok(effects)
    }
}

fn read(root: &Path, at: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(root.join(at)).unwrap().map_while(Result::ok) {
        let path = at.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            read(root, &path, files);
        } else if let Ok(bytes) = fs::read(root.join(&path)) {
            files.insert(path, bytes);
        }
    }
}

/// Remembers the folders that were handed out.
#[derive(Default)]
pub(super) struct Leftover(Mutex<Vec<PathBuf>>);

impl Leftover {
    /// With one file.
    pub(super) fn folder(&self) -> Box<dyn Watch> {
        self.blind_after(usize::MAX)
    }

    /// Cannot be read after so many looks.
    pub(super) fn blind_after(&self, looks: usize) -> Box<dyn Watch> {
        let folder = Folder { light: looks, ..Folder::new() };
        fs::write(folder.path().join("a.txt"), "one\n").unwrap();
        self.0.lock().unwrap().push(folder.path().to_owned());
        Box::new(folder)
    }

    #[track_caller]
    pub(super) fn is_gone(&self) {
        for path in self.0.lock().unwrap().iter() {
            assert!(!path.exists(), "left: {}", path.display());
        }
    }
}
