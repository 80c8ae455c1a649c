/// What the commands end with, for scripts to branch on: stable, and told in docs/command-line.md. From 64 on they are
/// those of sysexits.h, where it has a fitting one; `failed` is what most scripts mean by "it did not work".
enum CommandStatus: Int32, Sendable, CaseIterable {
    case succeeded = 0
    /// A download that was waited for has failed or was cancelled.
    case failed = 1
    /// The command itself makes no sense (EX_USAGE; swift-argument-parser ends with it, too).
    case misused = 64
    /// The service found something in the request that cannot be (EX_DATAERR): 400, 413, 415, 422.
    case refused = 65
    /// There is no such job, session, webhook or file (EX_NOINPUT): 404, 410; or an input file cannot be read.
    case missing = 66
    /// Nobody answers there, or it is starting, stopping or out of space (EX_UNAVAILABLE): 503; or a gateway says so.
    case unavailable = 69
    /// The service failed (EX_SOFTWARE): other statuses from 500 on.
    case broken = 70
    /// A file or standard output cannot be written (EX_CANTCREAT).
    case unwritable = 73
    /// The present state does not allow it (EX_TEMPFAIL): 409, 412.
    case conflicting = 75
    /// What answers is not fetchd (EX_PROTOCOL).
    case strange = 76
    /// No token, or one that is not taken (EX_NOPERM): 401, 403; or a name that is not the service's: 421.
    case denied = 77
    /// The configuration file cannot be used (EX_CONFIG).
    case misconfigured = 78
    /// The time given by --timeout was over, as with timeout(1).
    case overdue = 124

    /// Of an answer that is no success.
    init(answer status: Int) {
        self =
            switch status {
            case 401, 403, 421: .denied
            case 404, 410: .missing
            case 409, 412: .conflicting
            case 503: .unavailable
            case 400..<500: .refused
            default: .broken
            }
    }
}
