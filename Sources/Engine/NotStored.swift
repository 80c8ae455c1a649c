/// The engine stopped before the disk accepted a change. The database keeps its earlier state, and the next start
/// continues from that state.
struct NotStored: Error {}
