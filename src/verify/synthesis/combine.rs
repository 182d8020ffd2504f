//! From values of single parameters to sets of arguments: each value at least once, then pairs.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// A parameter and the values to try.
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) required: bool,
    /// At least one, the best first.
    pub(super) values: Vec<Value>,
}

/// For each parameter the place of its value; none where it is left out.
type Row = Vec<Option<usize>>;

/// At most `most` sets of arguments. First what is required and nothing else, then the extras,
/// which belong together as they are, then the rest.
pub(super) fn combine(
    parameters: &[Parameter],
    extras: Vec<Map<String, Value>>,
    most: usize,
) -> Vec<Map<String, Value>> {
    let base = row(parameters, |parameter| parameter.required.then_some(0));
    let mut sets = vec![arguments(parameters, &base)];
    for extra in extras.into_iter().take(most / 4) {
        // An extra says what belongs together; the base adds what is required beside it.
        let mut set = arguments(parameters, &base);
        set.extend(extra);
        push(&mut sets, set);
    }
    let (mut rows, plain) = candidates(parameters, &base);
    pairs(parameters, &mut rows, 2 * most);
    for row in select(rows, plain.min(most * 3 / 4), most.saturating_sub(sets.len() - 1)) {
        push(&mut sets, arguments(parameters, &row));
    }
    sets
}

fn push(sets: &mut Vec<Map<String, Value>>, set: Map<String, Value>) {
    if !sets.contains(&set) {
        sets.push(set);
    }
}

fn row(parameters: &[Parameter], choose: impl Fn(&Parameter) -> Option<usize>) -> Row {
    parameters.iter().map(choose).collect()
}

fn arguments(parameters: &[Parameter], row: &Row) -> Map<String, Value> {
    let chosen = parameters
        .iter()
        .zip(row)
        .filter_map(|(parameter, at)| Some((parameter.name.clone(), parameter.values.get((*at)?)?.clone())));
    chosen.collect()
}

/// Rows that are likely to succeed, and that together hold each value. The first, as many as
/// said, hold nothing but what is required.
fn candidates(parameters: &[Parameter], base: &Row) -> (Vec<Row>, usize) {
    let longest = |required: bool| {
        let of = parameters.iter().filter(|parameter| parameter.required || !required);
        of.map(|parameter| parameter.values.len()).max().unwrap_or(0)
    };
    let turn = |parameter: &Parameter, at: usize| Some(at % parameter.values.len().max(1));
    let mut rows = vec![base.clone()];
    rows.extend(
        (1..longest(true))
            .map(|at| row(parameters, |parameter| if parameter.required { turn(parameter, at) } else { None })),
    );
    let plain = rows.len();
    for (place, parameter) in parameters.iter().enumerate().filter(|(_, parameter)| !parameter.required) {
        rows.extend((0..parameter.values.len()).map(|at| {
            base.iter().enumerate().map(|(other, chosen)| if other == place { Some(at) } else { *chosen }).collect()
        }));
    }
    rows.extend((0..longest(false)).map(|at| row(parameters, |parameter| turn(parameter, at))));
    (rows, plain)
}

/// Add rows until each pair of values has met, greedily, or there are `most`.
fn pairs(parameters: &[Parameter], rows: &mut Vec<Row>, most: usize) {
    let options = |parameter: &Parameter| -> Vec<Option<usize>> {
        let values = (0..parameter.values.len()).map(Some);
        if parameter.required { values.collect() } else { values.chain([None]).collect() }
    };
    let options: Vec<_> = parameters.iter().map(options).collect();
    let mut met: HashSet<_> = rows.iter().flat_map(pairs_of).collect();
    while rows.len() < most {
        let mut row: Row = Vec::with_capacity(options.len());
        for (place, choices) in options.iter().enumerate() {
            let fresh = |choice: &Option<usize>| {
                let chosen = row.iter().enumerate();
                chosen.filter(|(other, value)| !met.contains(&(*other, **value, place, *choice))).count()
            };
            let ahead = |choice: &Option<usize>| unmet(&met, &options, place, *choice);
            // The first of the best: values are sorted by how good they are.
            let best = choices.iter().rev().max_by_key(|choice| (fresh(choice), ahead(choice)));
            row.push(best.copied().flatten());
        }
        let before = met.len();
        met.extend(pairs_of(&row));
        if met.len() == before {
            return;
        }
        rows.push(row);
    }
}

type Pair = (usize, Option<usize>, usize, Option<usize>);

fn pairs_of(row: &Row) -> Vec<Pair> {
    let places: Vec<_> = row.iter().copied().enumerate().collect();
    let with_later = |(at, (one, value)): (usize, &(usize, Option<usize>))| {
        let (one, value) = (*one, *value);
        places.iter().skip(at + 1).map(move |(other, there)| (one, value, *other, *there)).collect::<Vec<_>>()
    };
    places.iter().enumerate().flat_map(with_later).collect()
}

/// How many pairs of this choice with later parameters are still to come.
fn unmet(met: &HashSet<Pair>, options: &[Vec<Option<usize>>], place: usize, choice: Option<usize>) -> usize {
    let later = options.iter().enumerate().skip(place + 1);
    let pairs = later.flat_map(|(other, choices)| choices.iter().map(move |there| (place, choice, other, *there)));
    pairs.filter(|pair| !met.contains(pair)).count()
}

/// At most `most` rows in their order: the first `plain`, then so that as many single values as
/// possible are in.
fn select(rows: Vec<Row>, plain: usize, most: usize) -> Vec<Row> {
    if rows.len() <= most {
        return rows;
    }
    let values =
        |row: &Row| -> Vec<_> { row.iter().copied().enumerate().filter(|(_, value)| value.is_some()).collect() };
    let mut chosen: Vec<usize> = (0..plain.min(most)).collect();
    let mut covered: HashSet<_> = rows.iter().take(chosen.len()).flat_map(values).collect();
    while chosen.len() < most {
        let gain = |row: &Row| values(row).iter().filter(|value| !covered.contains(*value)).count();
        let best = rows.iter().map(gain).enumerate().rev().max_by_key(|(_, gain)| *gain);
        let Some((at, _)) = best.filter(|(_, gain)| *gain > 0) else { break };
        covered.extend(rows.get(at).map(values).unwrap_or_default());
        chosen.push(at);
    }
    let rest: Vec<_> = (0..rows.len()).filter(|at| !chosen.contains(at)).take(most - chosen.len()).collect();
    chosen.extend(rest);
    rows.into_iter().enumerate().filter(|(at, _)| chosen.contains(at)).map(|(_, row)| row).collect()
}
