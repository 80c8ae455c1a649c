/// The exit statuses of the commands. They are stable, and docs/command-line.md documents them. From 64 to 78 they follow
/// sysexits.h as far as possible.
enum CommandStatus: Int32, Sendable, CaseIterable {
    case succeeded = 0
    /// A download that the command waited for has failed or was cancelled.
    case failed = 1
    /// The command line has a mistake (EX_USAGE; swift-argument-parser uses it, too).
    case misused = 64
    /// The service refused a value as invalid (EX_DATAERR): 400, 413, 415, 422.
    case refused = 65
    /// The job, session, webhook or file does not exist (EX_NOINPUT): 404, 410; or an input file cannot be read.
    case missing = 66
    /// The service does not answer, or it is starting, stopping or out of space (EX_UNAVAILABLE): 503; or a gateway says so.
    case unavailable = 69
    /// The service failed (EX_SOFTWARE): other statuses from 500 on.
    case broken = 70
    /// A file or standard output cannot be written (EX_CANTCREAT).
    case unwritable = 73
    /// The current state does not allow the action (EX_TEMPFAIL): 409, 412; or a quota of the token is used up: 429.
    case conflicting = 75
    /// The server at the address is not fetchd (EX_PROTOCOL).
    case strange = 76
    /// A token is required, or the token is wrong (EX_NOPERM): 401, 403; or the host name is not the service's: 421.
    case denied = 77
    /// The configuration file cannot be used (EX_CONFIG).
    case misconfigured = 78
    /// The time of --timeout has passed, as with timeout(1).
    case overdue = 124

    /// - Parameter status: the HTTP status of a response that is not a success.
    init(answer status: Int) {
        self =
            switch status {
            case 401, 403, 421: .denied
            case 404, 410: .missing
            case 409, 412, 429: .conflicting
            case 503: .unavailable
            case 400..<500: .refused
            default: .broken
            }
    }
}
