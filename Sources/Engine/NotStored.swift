/// The engine stopped before the disk took a change. The database has what it had before, and the next start goes on from
/// there.
struct NotStored: Error {}
