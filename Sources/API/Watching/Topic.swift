import Downloads
import Storage

/// A subject that a watcher can watch. A change wakes only the watchers of its topics.
enum Topic: Hashable {
    /// An event was appended to the journal.
    case journal(Scope)
    /// Running jobs have made progress.
    case progress(Scope)
    /// A job has changed, or has made progress.
    case job(JobID)

    var isJob: Bool { if case .job = self { true } else { false } }

    enum Scope: Hashable {
        case everything
        case session(Name)
        case job(JobID)
    }
}

extension Topic.Scope {
    /// The narrowest scope that contains all events of the query.
    init(_ query: EventQuery) {
        self = query.job.map(Self.job) ?? query.session.map(Self.session) ?? .everything
    }

    /// All scopes that contain the events of a session, or of one of its jobs.
    static func holding(_ session: Name, _ job: JobID?) -> [Topic.Scope] {
        [.everything, .session(session)] + (job.map { [.job($0)] } ?? [])
    }
}
