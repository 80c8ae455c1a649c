import Downloads
import Storage

/// What a watcher can watch. A change wakes only the watchers of its topics.
enum Topic: Hashable {
    /// Something was appended to the journal.
    case journal(Scope)
    /// Running jobs have made progress.
    case progress(Scope)
    /// A job has changed, or has made progress.
    case job(JobID)

    enum Scope: Hashable {
        case everything
        case session(Name)
        case job(JobID)
    }
}

extension Topic.Scope {
    /// The narrowest that holds everything that is asked for.
    init(_ query: EventQuery) {
        self = query.job.map(Self.job) ?? query.session.map(Self.session) ?? .everything
    }

    /// All that hold something about a session, or about a job of it.
    static func holding(_ session: Name, _ job: JobID?) -> [Topic.Scope] {
        [.everything, .session(session)] + (job.map { [.job($0)] } ?? [])
    }
}
