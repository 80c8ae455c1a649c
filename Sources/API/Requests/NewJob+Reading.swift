import Downloads
import Storage

/// Reads a new job from the request of a client.
extension NewJob {
    init(reading reader: inout FieldReader) throws(Problem) {
        let session = try reader.string("session") ?? Name.default.text
        guard let name = Name(session) else { throw reader.invalid("session", "cannot be a session's name") }
        let donor = try reader.string("resume_from").map { JobID($0) }
        let state = try reader.choice("state", of: FirstState.self)
        self.init(
            session: name, spec: try JobSpec(reading: &reader), resumeFrom: donor, isPaused: state == .paused)
    }

    /// The states in which a job can be created.
    private enum FirstState: String, CaseIterable { case queued, paused }
}
