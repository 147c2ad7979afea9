//! The witness: a file outside of a store that records how far its history is, so that a copy is noticed.
//!
#![doc = include_str!("witness.md")]

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::atomic_file::replace;
use crate::error::{Error, Result};
use crate::files::{create_private, points, sync_folder};
use crate::history::ChainHead;

/// Characters of a hash in the name of a fence: 128 bits.
const MARK: usize = 32;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct WitnessFile {
    store: String,
    #[serde(flatten)]
    head: ChainHead,
    #[serde(flatten)]
    reach: HighWater,
    /// A fence stands beside the witness. Versions before fences wrote none.
    #[serde(default)]
    fenced: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    beginning: Option<PathBuf>,
}

/// The furthest that a store has come: nothing beyond was charged, or shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HighWater {
    /// The latest moment, or number of events.
    pub position: i64,
    pub lists: u64,
}

/// An empty file beside the witness, named after the head that may go on, locked by the process that does.
struct Fence {
    file: File,
    mark: String,
    /// The process that holds the lock: a child after a fork does not.
    process: u32,
}

impl Drop for Fence {
    fn drop(&mut self) {
        // Explicitly, because a child may have the same file open.
        if self.process == std::process::id() {
            let _ = self.file.unlock();
        }
    }
}

pub(crate) struct Witness {
    pub path: PathBuf,
    /// The contents that this process has written or found last.
    contents: Option<WitnessFile>,
    fence: Option<Fence>,
    /// Fences of other heads, if a copy is accepted.
    others: Vec<Fence>,
    /// The folder of the store, while it is being created.
    pub beginning: Option<PathBuf>,
}

impl Witness {
    pub fn new(path: PathBuf) -> Self {
        Self { path, contents: None, fence: None, others: Vec::new(), beginning: None }
    }

    /// The witness of a store that is to be created in a folder. It must lie outside of the folder, and not
    /// exist unless an interrupted creation in the same folder has left it.
    pub fn begin(path: &Path, folder: &Path) -> Result<Self> {
        let absolute = |path: &Path| std::path::absolute(path).map_err(|cause| Error::file(path, cause));
        let (path, folder) = (absolute(path)?, absolute(folder)?);
        let parent = path.parent().unwrap_or(Path::new("/"));
        let (place, inside) = (resolved(parent), resolved(&folder));
        if [&place, &resolved(&path)].iter().any(|place| place.starts_with(&inside)) {
            return Err(Error::conflict(format!(
                "the witness {} lies in the folder of the state, and would be restored with it: give it \
                 another place",
                path.display()
            )));
        }
        if !place.is_dir() {
            return Err(Error::conflict(format!(
                "the witness {} has no folder to lie in: make {} first",
                path.display(),
                parent.display()
            )));
        }
        let mut witness = Self::new(path);
        witness.clear_unfinished(&inside)?;
        witness.beginning = Some(inside);
        Ok(witness)
    }

    /// Removes the witness of an interrupted creation in this folder; refuses any other.
    fn clear_unfinished(&self, folder: &Path) -> Result<()> {
        let there = fs::symlink_metadata(&self.path).is_ok();
        let fences = self.fences()?;
        if !there && fences.is_empty() {
            return Ok(());
        }
        let contents = if there { self.read()? } else { None };
        match contents.and_then(|contents| contents.beginning) {
            Some(beginning) if beginning == folder => {
                // Refuses fences of a process that is still creating the store.
                let _held = fences.into_iter().map(|mark| self.hold(mark)).collect::<Result<Vec<_>>>()?;
                remove_witness(&self.path).map_err(|cause| Error::file(&self.path, cause))
            }
            Some(beginning) => Err(Error::conflict(format!(
                "the witness {} is of a state that was being begun in {}: begin it there again, or delete \
                 the file",
                self.path.display(),
                beginning.display()
            ))),
            None => Err(Error::conflict(format!(
                "the witness {} is there already, of another state: give each a file of its own",
                self.path.display()
            ))),
        }
    }

    /// Locks the fence of the head, from which this process alone goes on, and brings the witness up to date.
    pub fn open(
        &mut self,
        store: &str,
        head: &ChainHead,
        reach: HighWater,
        head_at: impl Fn(u64) -> Result<Option<ChainHead>>,
    ) -> Result<()> {
        let found = self.read()?.filter(|found| found.store == store);
        let found = found.ok_or_else(|| self.is_copy())?;
        let known = &found.head;
        if known.generation > head.generation || head_at(known.generation)?.as_ref() != Some(known) {
            return Err(self.is_copy());
        }
        // The process may have ended between the commit and the witness.
        let before = head_at(head.generation.saturating_sub(1))?.unwrap_or_default();
        let fence = match self.find([head, &before, known].map(secret_id))? {
            Some(fence) => fence,
            None if !found.fenced => self.first_fence(&found)?,
            None => return Err(self.is_copy()),
        };
        let is_known = found.head == *head && found.fenced && found.beginning.is_none();
        let stands = fence.mark == secret_id(head);
        (self.contents, self.fence) = (Some(found), Some(fence));
        if is_known && stands {
            return Ok(());
        }
        self.advance(store, head, reach)
    }

    /// Creates the fence of a witness that was written by a version before fences.
    fn first_fence(&self, found: &WitnessFile) -> Result<Fence> {
        let fence = self.create_fence(secret_id(&found.head))?;
        // A process that was here before has changed the witness before it went on.
        if self.read()?.as_ref() != Some(found) {
            let _ = fs::remove_file(self.fence_at(&fence.mark));
            return Err(self.is_copy());
        }
        Ok(fence)
    }

    /// Takes all fences from the store that has them, so that a copy can go on.
    pub fn take(&mut self) -> Result<()> {
        self.fence = None;
        self.others = self.fences()?.into_iter().map(|mark| self.hold(mark)).collect::<Result<_>>()?;
        self.fence = self.others.pop();
        self.contents = None;
        Ok(())
    }

    /// The furthest that the store is known to have come; an error if the witness is of another store.
    pub fn reach(&self, store: &str) -> Result<Option<HighWater>> {
        if !self.path.exists() {
            return Ok(None);
        }
        match self.read()? {
            Some(contents) if contents.store == store => Ok(Some(contents.reach)),
            _ => Err(Error::conflict(format!(
                "the witness {} is not of this state: put its own back, or take the file away",
                self.path.display()
            ))),
        }
    }

    /// Checks that the witness is as this process has written it.
    pub fn check(&self) -> Result<()> {
        let (Some(contents), Some(fence)) = (&self.contents, &self.fence) else {
            return Ok(());
        };
        if self.read()?.as_ref() != Some(contents) || !self.fence_at(&fence.mark).exists() {
            return Err(self.is_overtaken());
        }
        Ok(())
    }

    /// Moves the fence, unless another process has, and writes the witness. Both are durable.
    pub fn advance(&mut self, store: &str, head: &ChainHead, reach: HighWater) -> Result<()> {
        let contents = WitnessFile {
            store: store.to_owned(),
            head: head.clone(),
            reach,
            fenced: true,
            beginning: self.beginning.clone(),
        };
        if let Some(fence) = &self.fence {
            self.move_fence(&fence.mark, &secret_id(head))?;
            points::reached();
        }
        replace(&self.path, &serde_json::to_vec(&contents)?, true)?;
        self.contents = Some(contents);
        match &mut self.fence {
            Some(fence) => fence.mark = secret_id(head),
            None => self.fence = Some(self.create_fence(secret_id(head))?),
        }
        for other in self.others.drain(..) {
            let _ = fs::remove_file(self.path.with_file_name(fence_name(&self.path, &other.mark)));
        }
        Ok(())
    }

    /// Renames the fence: of two processes only one finds the file.
    fn move_fence(&self, from: &str, to: &str) -> Result<()> {
        let (from, to) = (self.fence_at(from), self.fence_at(to));
        match fs::rename(&from, &to) {
            Ok(()) => Ok(()),
            // It was moved, and a network file system has lost the answer.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound && to.exists() => Ok(()),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Err(self.is_overtaken()),
            Err(cause) => Err(Error::file(&from, cause)),
        }
    }

    /// Reads the file; none if its contents cannot be parsed.
    fn read(&self) -> Result<Option<WitnessFile>> {
        let bytes = fs::read(&self.path).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => Error::conflict(format!(
                "the witness {} cannot be read ({cause}), and without it nobody knows whether this state is \
                 the latest: put it back, or accept the state as a restored copy",
                self.path.display()
            )),
            _ => Error::File(format!(
                "the witness {} could not be read ({cause}), which is no damage to the state: try again, and \
                 look at its disk if it happens again",
                self.path.display()
            )),
        })?;
        Ok(serde_json::from_slice(&bytes).ok())
    }

    /// Locks the first of these fences that exists.
    fn find(&self, marks: [String; 3]) -> Result<Option<Fence>> {
        for mark in marks {
            let path = self.fence_at(&mark);
            if !path.exists() {
                continue;
            }
            let fence = self.hold(mark)?;
            // Another process may have moved it before it was locked.
            if path.exists() {
                return Ok(Some(fence));
            }
        }
        Ok(None)
    }

    fn hold(&self, mark: String) -> Result<Fence> {
        let path = self.fence_at(&mark);
        let opened = OpenOptions::new().read(true).write(true).open(&path);
        self.locked(opened.map_err(|cause| Error::file(&path, cause))?, mark)
    }

    fn create_fence(&self, mark: String) -> Result<Fence> {
        let path = self.fence_at(&mark);
        let fail = |cause| Error::file(&path, cause);
        points::writing().map_err(fail)?;
        let fence = self.locked(create_private(&path).map_err(fail)?, mark)?;
        sync_folder(path.parent().unwrap_or(Path::new("/")))?;
        Ok(fence)
    }

    /// Locks a fence. If files cannot be locked, the name of the fence alone decides who goes on.
    fn locked(&self, file: File, mark: String) -> Result<Fence> {
        match points::try_lock(&file) {
            Err(TryLockError::WouldBlock) => Err(Error::Busy(format!(
                "another process has this state, or a copy of it, open, and holds the witness {}: wait until \
                 it has ended, and go on with one of them alone",
                self.path.display()
            ))),
            _ => Ok(Fence { file, mark, process: std::process::id() }),
        }
    }

    fn fence_at(&self, mark: &str) -> PathBuf {
        self.path.with_file_name(fence_name(&self.path, mark))
    }

    fn fences(&self) -> Result<Vec<String>> {
        fences(&self.path).map_err(|cause| Error::file(&self.path, cause))
    }

    fn is_copy(&self) -> Error {
        Error::conflict(format!(
            "this is not the latest state that the witness {} knows of: it is a copy, and its budget may \
             have been spent by the one that went on. Go on with that one; or accept this one, with \
             `frostpane restore DIR`, which marks all of its past as spent",
            self.path.display()
        ))
    }

    fn is_overtaken(&self) -> Error {
        Error::conflict(format!(
            "the witness {} no longer holds what this process wrote: another copy of this state goes on, so \
             nothing was shown. Stop this one, and go on with the other alone",
            self.path.display()
        ))
    }
}

/// Removes the witness of a deleted store, with its fence.
pub fn remove_witness(path: &Path) -> io::Result<()> {
    for mark in fences(path)? {
        fs::remove_file(path.with_file_name(fence_name(path, &mark)))?;
    }
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    }
}

fn secret_id(head: &ChainHead) -> String {
    head.mark.chars().take(MARK).collect()
}

fn fence_name(witness: &Path, mark: &str) -> std::ffi::OsString {
    let mut name = witness.file_name().unwrap_or_default().to_owned();
    name.push(format!(".fence-{mark}"));
    name
}

fn fences(witness: &Path) -> io::Result<Vec<String>> {
    let prefix = fence_name(witness, "");
    let prefix = prefix.as_encoded_bytes();
    let folder = witness.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = match fs::read_dir(folder.unwrap_or(Path::new("."))) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let marks = entries.map(|entry| {
        let name = entry?.file_name();
        let mark = name.as_encoded_bytes().strip_prefix(prefix);
        let is_mark = |mark: &&[u8]| mark.len() == MARK && mark.iter().all(u8::is_ascii_hexdigit);
        Ok(mark.filter(is_mark).map(|mark| String::from_utf8_lossy(mark).into_owned()))
    });
    marks.filter_map(io::Result::transpose).collect()
}

/// Resolves links and dots of a path, whose end may not exist.
fn resolved(path: &Path) -> PathBuf {
    if let Ok(whole) = path.canonicalize() {
        return whole;
    }
    let (Some(parent), Some(last)) = (path.parent(), path.components().next_back()) else {
        return path.to_owned();
    };
    let parent = resolved(parent);
    match last {
        Component::ParentDir => parent.parent().map_or(parent.clone(), Path::to_owned),
        Component::CurDir => parent,
        last => parent.join(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder =
                std::env::temp_dir().join(format!("frostpane-witness-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// A folder with a witness of a store that has begun, and the head of its history.
    fn begun(name: &str) -> (Folder, Witness, ChainHead) {
        let folder = Folder::new(name);
        let mut witness = Witness::new(folder.0.join("witness"));
        let began = ChainHead::default().after(b"began");
        witness.advance("store", &began, HighWater::default()).unwrap();
        (folder, witness, began)
    }

    /// The witness of a process that could not lock it.
    fn unlocked(of: &Witness) -> Witness {
        let mut witness = Witness::new(of.path.clone());
        let fence = of.fence.as_ref().unwrap();
        witness.contents.clone_from(&of.contents);
        let file = File::open(of.fence_at(&fence.mark)).unwrap();
        let (mark, process) = (fence.mark.clone(), fence.process);
        witness.fence = Some(Fence { file, mark, process });
        witness
    }

    /// Both processes pass the check and commit, in any order of their steps; one of them goes on.
    #[test]
    fn of_two_processes_that_compared_at_the_same_time_one_goes_on() {
        let (_folder, mut first, began) = begun("race");
        let mut second = unlocked(&first);
        first.check().unwrap();
        second.check().unwrap();
        let (one, two) = (began.after(b"one"), began.after(b"two"));
        first.advance("store", &one, HighWater::default()).unwrap();
        let refused = second.advance("store", &two, HighWater::default()).unwrap_err();
        assert!(refused.to_string().contains("nothing was shown"), "{refused}");
        assert!(second.check().is_err() && first.check().is_ok());
        // Nor later, when the other has gone on.
        let three = one.after(b"three");
        first.advance("store", &three, HighWater::default()).unwrap();
        assert!(second.advance("store", &two, HighWater::default()).is_err());
        first.check().unwrap();
        assert_eq!(first.fences().unwrap(), [secret_id(&three)]);
    }

    /// A copy made between commit and witness has the same noise so far; one of the two goes on from there.
    #[test]
    fn copies_of_one_commit_tell_the_same_and_then_one_goes_on() {
        let (_folder, mut first, began) = begun("same");
        let mut second = unlocked(&first);
        let one = began.after(b"one");
        first.advance("store", &one, HighWater::default()).unwrap();
        second.advance("store", &one, HighWater::default()).unwrap();
        let (two, three) = (one.after(b"two"), one.after(b"three"));
        second.advance("store", &two, HighWater::default()).unwrap();
        assert!(first.check().is_err());
        assert!(first.advance("store", &three, HighWater::default()).is_err());
    }

    #[test]
    fn a_witness_is_found_inside_the_folder_by_whatever_path() {
        let folder = Folder::new("inside");
        let state = folder.0.join("state");
        let begin = |witness: PathBuf| Witness::begin(&witness, &state).map(drop);
        let (link, loose) = (folder.0.join("link"), folder.0.join("loose"));
        for there in [false, true] {
            if there {
                fs::create_dir(&state).unwrap();
            }
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(&state, &link).unwrap();
            let mut inside = vec![
                state.join("witness"),
                state.join("deep/er/witness"),
                folder.0.join("state/../state/./witness"),
                folder.0.join("none/../state/witness"),
                state.clone(),
                folder.0.join("state/."),
            ];
            if there {
                inside.push(link.join("witness"));
            }
            for path in inside {
                let refused = begin(path.clone()).unwrap_err().to_string();
                assert!(refused.contains("would be restored with it"), "{path:?}: {refused}");
            }
        }
        assert!(begin(loose.join("witness")).unwrap_err().to_string().contains("make"));
        begin(folder.0.join("witness")).unwrap();
        begin(state.join("../witness")).unwrap();
    }
}
