//! The picture in a terminal: newest first, as `git log --graph`. Pure.

use super::{Picture, PictureMoment, PictureMomentKind};

/// A row: the cells of the lanes, and what is said beside them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureRow {
    /// The cells, two characters a column.
    pub cells: String,
    /// The place of the moment.
    pub moment: usize,
}

/// The rows, newest first.
pub fn rows(picture: &Picture) -> Vec<PictureRow> {
    (0..picture.moments.len()).rev().map(|place| PictureRow { cells: cells(picture, place), moment: place }).collect()
}

/// The cells of the present moment: what is there now.
pub fn now(picture: &Picture) -> String {
    let mut cells = passing(picture, picture.moments.len());
    cells[0] = '○';
    joined(&cells, None)
}

fn cells(picture: &Picture, place: usize) -> String {
    let moment = &picture.moments[place];
    let mut cells = passing(picture, place);
    let columns: Vec<usize> = moment.lanes.iter().map(|lane| picture.lanes[*lane].column).collect();
    let last = columns.iter().copied().max();
    let (main, lane) = symbols(moment);
    cells[0] = if columns.is_empty() || moment.kind != PictureMomentKind::Worked { main } else { '│' };
    for column in &columns {
        cells[*column] = lane;
    }
    let reaches = last.filter(|_| moment.kind != PictureMomentKind::Worked && moment.kind != PictureMomentKind::Closed);
    if let Some(last) = reaches {
        for (column, cell) in cells.iter_mut().enumerate().take(last).skip(1) {
            if !columns.contains(&column) {
                *cell = if *cell == ' ' { '─' } else { '┼' };
            }
        }
    }
    joined(&cells, reaches)
}

/// The lanes that pass by at a moment.
fn passing(picture: &Picture, place: usize) -> Vec<char> {
    let mut cells = vec![' '; picture.columns()];
    cells[0] = '│';
    for (lane, of) in picture.lanes.iter().enumerate() {
        if picture.is_there(lane, place) {
            cells[of.column] = '│';
        }
    }
    cells
}

/// What stands on the main lane, and on the lanes that are concerned.
fn symbols(moment: &PictureMoment) -> (char, char) {
    match moment.kind {
        PictureMomentKind::Session => ('■', '│'),
        PictureMomentKind::Begun => ('├', '╯'),
        PictureMomentKind::Worked => ('●', '●'),
        PictureMomentKind::Merged => ('●', '╮'),
        PictureMomentKind::Closed => ('│', '×'),
        PictureMomentKind::Checkpoint => ('◆', '◆'),
        PictureMomentKind::RolledBack => ('◀', '◀'),
        PictureMomentKind::Undone => ('↶', '↶'),
    }
}

fn joined(cells: &[char], reaches: Option<usize>) -> String {
    let with_gaps = cells.iter().enumerate().flat_map(|(column, cell)| {
        let gap = if reaches.is_some_and(|last| column < last) { '─' } else { ' ' };
        [*cell, gap]
    });
    with_gaps.collect()
}
