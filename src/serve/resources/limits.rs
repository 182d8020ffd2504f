use candor_tools::{
    database::DatabaseLimits, notes::NotesLimits, repo::RepoLimits, reports::ReportsLimits, web::WebConfig,
};
use clap::Args;

use crate::serve::seconds::Seconds;

/// One option for each limit of a resource. Names, units and defaults are those of the structs in
/// `candor-tools`, where each limit is explained.
macro_rules! limits {
    ($(
        $options:ident for $limits:ident {
            $($(#[doc = $help:literal])* $option:ident: $kind:ident => $field:ident,)*
        }
    )*) => {$(
        #[derive(Args, Clone, Debug)]
        #[command(next_help_heading = "Limits of the resources")]
        pub(super) struct $options {$(
            $(#[doc = $help])*
            #[arg(long, value_name = limits!(@unit $kind), default_value_t = limits!(@from $kind $limits::default().$field), hide_short_help = true)]
            $option: limits!(@type $kind),
        )*}

        impl $options {
            pub(super) fn set(&self, limits: &mut $limits) {
                $(limits.$field = limits!(@into $kind self.$option);)*
            }
        }
    )*};
    (@type seconds) => { Seconds };
    (@type count) => { usize };
    (@type count32) => { u32 };
    (@type count64) => { u64 };
    (@type bytes) => { usize };
    (@type bytes64) => { u64 };
    (@unit seconds) => { "SECONDS" };
    (@unit count) => { "COUNT" };
    (@unit count32) => { "COUNT" };
    (@unit count64) => { "COUNT" };
    (@unit bytes) => { "BYTES" };
    (@unit bytes64) => { "BYTES" };
    (@from seconds $value:expr) => { Seconds($value) };
    (@from $kind:ident $value:expr) => { $value };
    (@into seconds $value:expr) => { $value.0 };
    (@into $kind:ident $value:expr) => { $value };
}

limits! {
    RepoOptions for RepoLimits {
        /// Listings of branches that run at once
        listings_at_once: count => concurrent_listings,
        /// Commits whose times are remembered between listings
        remembered_commits: count => remembered_commits,
        /// Characters of a commit's subject that are shown
        subject_chars: count => subject_chars,
        /// Commits that are counted before a question says "at least"
        counted_commits: count => counted_commits,
    }

    NotesOptions for NotesLimits {
        /// Bytes of one note
        note_bytes: bytes64 => note_bytes,
        /// Notes in the directory
        notes_most: count => notes,
        /// Notes on one page of a listing
        notes_page: count => page,
        /// Operations on notes that run at once
        notes_at_once: count => concurrent,
        /// Wait for another server's lock on the directory
        notes_lock_seconds: seconds => lock_wait,
    }

    DatabaseOptions for DatabaseLimits {
        /// Threads that read the database
        database_readers: count => readers,
        /// Calls that may wait for such a thread
        database_queue: count => queue,
        /// Time of a read, waiting included
        query_seconds: seconds => query_time,
        /// Time of a write, waiting included
        write_seconds: seconds => write_time,
        /// Wait for a lock that another program holds
        database_lock_seconds: seconds => lock_time,
        /// Rows in one result
        query_rows: count => rows,
        /// Bytes of one result
        query_bytes: bytes => result_bytes,
        /// Bytes of one SQL statement
        statement_bytes: bytes => statement_bytes,
        /// Bytes of one value
        value_bytes: bytes => value_bytes,
        /// Rows in one call of `insert_rows`
        insert_rows: count => insert_rows,
        /// Bytes in one call of `insert_rows`
        insert_bytes: bytes => insert_bytes,
        /// Tables that `describe_database` describes
        described_tables: count => described_tables,
        /// Bytes by which one write may let the database grow
        growth_bytes: bytes64 => growth_bytes,
        /// Bytes of memory for all SQLite work of the process
        sqlite_memory_bytes: bytes64 => memory_bytes,
    }

    ReportsOptions for ReportsLimits {
        /// Calls that may wait for the reports
        reports_queue: count => queue,
        /// Time of a call on the reports, waiting included
        reports_seconds: seconds => time,
        /// Wait for a lock that another program holds on the reports
        reports_lock_seconds: seconds => lock_time,
        /// Bytes of a report's text that are returned
        report_bytes: bytes => text_bytes,
        /// Bytes of one comment
        comment_bytes: bytes => comment_bytes,
        /// Comments that are returned with a report
        comments_shown: count => comments_shown,
        /// Comments that a report may have
        comments_per_report: count64 => comments_per_report,
        /// Bytes that the reports file may grow to
        reports_bytes: bytes64 => file_bytes,
    }

    WebOptions for WebConfig {
        /// Bytes of a URL
        fetch_url_bytes: bytes => max_url_bytes,
        /// Redirects that are followed
        redirects: count32 => max_redirects,
        /// Bytes of a page, decompressed; what is beyond is not read
        page_bytes: bytes => max_body_bytes,
        /// Bytes of text that are delivered of a page
        page_text_bytes: bytes => max_text_bytes,
        /// Fetches that run at once
        fetches_at_once: count => max_parallel,
        /// Time to look up a name, connect and agree on TLS
        fetch_connect_seconds: seconds => connect_timeout,
        /// Longest silence of the other side
        fetch_read_seconds: seconds => read_timeout,
        /// Time of a fetch with all its redirects
        fetch_seconds: seconds => total_timeout,
        /// Time to turn a page into text
        render_seconds: seconds => render_timeout,
    }
}
