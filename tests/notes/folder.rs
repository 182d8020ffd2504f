//! A notes directory with something beside it that has to stay.

use std::{fs, path::PathBuf, sync::Arc};

use candor_tools::{
    ToolError,
    notes::{Listing, NoteName, Notes, NotesAdder, NotesConfig, NotesLimits, NotesReader, NotesWriter},
};
use tempfile::TempDir;

pub(super) struct Folder {
    dir: TempDir,
    notes: Arc<Notes>,
}

impl Folder {
    pub(super) fn new() -> Self {
        Self::with(NotesLimits::default())
    }

    pub(super) fn with(limits: NotesLimits) -> Self {
        let dir = TempDir::new().unwrap();
        fs::create_dir(dir.path().join("notes")).unwrap();
        fs::create_dir(dir.path().join("notes-evil")).unwrap();
        fs::write(dir.path().join("notes-evil/secret"), "secret").unwrap();
        let notes = Arc::new(Notes::open(config(&dir, limits)).unwrap());
        Self { dir, notes }
    }

    /// A second server on the same directory.
    pub(super) fn second(&self, limits: NotesLimits) -> Arc<Notes> {
        Arc::new(Notes::open(config(&self.dir, limits)).unwrap())
    }

    /// A path in the notes directory.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("notes").join(name)
    }

    /// A file outside.
    pub(super) fn secret(&self) -> PathBuf {
        self.dir.path().join("notes-evil/secret")
    }

    pub(super) fn notes(&self) -> Arc<Notes> {
        Arc::clone(&self.notes)
    }

    /// What the directory holds: names and bytes.
    pub(super) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<_> = fs::read_dir(self.path(""))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.symlink_metadata().unwrap().is_file())
            .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap()))
            .collect();
        files.sort();
        files
    }

    pub(super) async fn list(&self, cursor: Option<String>) -> Result<Listing, ToolError> {
        NotesReader::new(self.notes()).list(cursor).await
    }

    pub(super) async fn read(&self, note: &str) -> Result<String, ToolError> {
        NotesReader::new(self.notes()).read(name(note)).await
    }

    pub(super) async fn create(&self, note: &str, text: &str) -> Result<(), ToolError> {
        NotesAdder::new(self.notes()).create(name(note), text.to_owned()).await
    }

    pub(super) async fn append(&self, note: &str, text: &str) -> Result<u64, ToolError> {
        NotesAdder::new(self.notes()).append(name(note), text.to_owned()).await
    }

    pub(super) async fn replace(&self, note: &str, text: &str) -> Result<u64, ToolError> {
        NotesWriter::new(self.notes()).replace(name(note), text.to_owned()).await
    }
}

fn config(dir: &TempDir, limits: NotesLimits) -> NotesConfig {
    NotesConfig { dir: dir.path().join("notes"), limits }
}

pub(super) fn name(note: &str) -> NoteName {
    NoteName::try_from(note.to_owned()).unwrap()
}

#[track_caller]
pub(super) fn assert_refused<T: std::fmt::Debug>(result: Result<T, ToolError>, part: &str) {
    match result {
        Err(ToolError::Refused(text)) => assert!(text.contains(part), "`{part}` is not in: {text}"),
        other => panic!("not refused: {other:?}"),
    }
}
