/// The exit statuses of `fetchd serve` besides 0, 1 and 64, as in sysexits.h.
enum ServeStatus: Int32 {
    /// The disk failed or did not answer in time, and some changes could not be stored (EX_IOERR).
    case unstored = 74
    /// Other nodes have taken over the jobs, and the system refused to start fetchd again (EX_TEMPFAIL).
    case nodeReplaced = 75
}
