//! The demo workspace. TODO
