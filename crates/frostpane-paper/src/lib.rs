//! The algorithms of Blocki, Lee, Mukherjee and Zhou, *Differentially Private L2-Heavy Hitters in the Sliding
//! Window Model* (ICLR 2023), as the page prints them.
//!
//! **Not for real data.** This crate is a yardstick: what Frostpane does is measured against it. Where the
//! printed form does not do what its text says, the intended form stands beside it, and an enum says which
//! one runs and what was wrong. `docs/paper.md` goes through the claims one by one.
