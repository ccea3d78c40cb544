//! What must never be in a log. Each check is one file of this folder; its page is the comment at the file's top.
//!
//! A check says on how many calls it is and how many of them it could judge: what a log can't show, it doesn't claim.

use super::case::{Case, Judged};
use crate::table::table;

/// One check.
#[derive(Debug)]
pub struct Check {
    /// What must hold, in a clause.
    pub sentence: &'static str,
    /// The standard name of what violates it, with a reference, where there is one for all of it.
    pub anomaly: Option<&'static str>,
    /// What a log must hold for the check to be about something, in a clause.
    pub about: &'static str,
    /// Looks at a log.
    pub judge: fn(&Case<'_>, &mut Judged),
}

table! {
    /// Every check.
    CHECKS: Check in CHECK {
        no_lost_update,
        no_double_write,
        no_cross_principal,
        truthful_outcome,
        respects_terminal_state,
        no_stale_commit,
        basis_holds,
        version_names_one_content,
        fresh_read,
        serializable,
        strictly_serializable,
    }
}
