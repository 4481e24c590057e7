//! The object and the task of a request: from path and query.

use hyper::Uri;

use super::pipeline::{self, Pipeline};
use crate::reply::{Query, unescaped};

/// The query's member with the actions.
const PROCESS: &str = "x-oss-process";
/// The endings of a path that is a picture's without a query.
const ENDINGS: [&str; 5] = [".jpg", ".jpeg", ".png", ".webp", ".gif"];

/// The task for an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Task {
    /// As it is.
    Original,
    /// Facts about it.
    Info,
    /// Another picture made of it.
    Process(Pipeline),
}

/// An object's name and what is wanted of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) object: String,
    pub(super) task: Task,
}

/// The fault of a request that cannot be understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Misunderstood {
    /// A sentence about the part that makes no sense.
    Wrong(String),
    /// There is no style of this name.
    NoStyle(String),
}

/// Whether an address that has no route of its own is a picture's.
pub(crate) fn claims(uri: &Uri) -> bool {
    let path = uri.path();
    let ends_in = |ending: &str| {
        let at = path.len().checked_sub(ending.len());
        at.and_then(|at| path.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(ending))
    };
    path.contains('!')
        || ENDINGS.into_iter().any(ends_in)
        || uri.query().is_some_and(|query| Query(query).get(PROCESS).is_some())
}

/// Reads an address: `/a.jpg?x-oss-process=image/info`, `/a.jpg!style`, `/a.jpg@!style`.
pub(super) fn read(uri: &Uri) -> Result<Wanted, Misunderstood> {
    let path = uri.path().trim_start_matches('/');
    if let Some((object, style)) = path.split_once('!') {
        let object = unescaped(object.strip_suffix('@').unwrap_or(object));
        return Ok(Wanted { object, task: styled(unescaped(style).trim())? });
    }
    let process = Query(uri.query().unwrap_or("")).get(PROCESS);
    Ok(Wanted { object: unescaped(path), task: task(process.as_deref().unwrap_or(""))? })
}

/// Reads a value of `x-oss-process`.
pub(super) fn task(text: &str) -> Result<Task, Misunderstood> {
    if text.is_empty() {
        return Ok(Task::Original);
    }
    if let Some(name) = text.strip_prefix("style/") {
        return styled(name);
    }
    let pipeline = Pipeline::parse(text).map_err(Misunderstood::Wrong)?;
    Ok(match pipeline {
        Pipeline { actions: 0, .. } => Task::Original,
        Pipeline { info: true, .. } => Task::Info,
        pipeline => Task::Process(pipeline),
    })
}

fn styled(name: &str) -> Result<Task, Misunderstood> {
    if !pipeline::is_style_name(name) {
        return Err(Misunderstood::Wrong(format!(
            "'{name}' is not the name of a style: 1 to 63 of letters, digits, '_', '.', '-'"
        )));
    }
    let text = pipeline::style(name).ok_or_else(|| Misunderstood::NoStyle(name.to_owned()))?;
    let pipeline = Pipeline::parse(text).map_err(Misunderstood::Wrong)?;
    Ok(Task::Process(pipeline))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(address: &str) -> Result<(String, Task), Misunderstood> {
        let uri: Uri = address.parse().unwrap();
        read(&uri).map(|wanted| (wanted.object, wanted.task))
    }

    #[test]
    fn a_style_is_its_pipeline_however_it_is_named() {
        let plain = wanted("/a/b.jpg?x-oss-process=image/resize,w_100,h_100,m_fixed,limit_0");
        for address in
            ["/a/b.jpg!box100", "/a/b.jpg@!box100", "/a/b.jpg?x-oss-process=style/box100"]
        {
            assert_eq!(wanted(address), plain, "{address}");
        }
        assert_eq!(plain.unwrap().0, "a/b.jpg");
        assert_eq!(wanted("/a.jpg!none"), Err(Misunderstood::NoStyle("none".into())));
        assert!(matches!(wanted("/a.jpg!"), Err(Misunderstood::Wrong(_))));
        assert!(matches!(wanted("/a.jpg!b%2Fc"), Err(Misunderstood::Wrong(_))));
    }

    #[test]
    fn without_an_action_the_object_itself_is_wanted() {
        for address in ["/a.jpg", "/a.jpg?x-oss-process=", "/a.jpg?x-oss-process=image&x=1"] {
            assert_eq!(wanted(address).unwrap().1, Task::Original, "{address}");
        }
        assert!(matches!(
            wanted("/a.jpg?x-oss-process=image/auto-orient,0").unwrap().1,
            Task::Process(_)
        ));
        assert_eq!(wanted("/a.jpg?x-oss-process=image%2Finfo").unwrap().1, Task::Info);
    }
}
