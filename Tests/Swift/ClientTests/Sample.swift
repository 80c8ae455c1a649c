import Formats
import Testing

@testable import Client

/// Documents as the service writes them.
enum Sample {
    static func job(
        _ id: String = "job_1", _ state: String = "running", name: String = "film.mkv", members: String = ""
    ) throws -> JobDocument {
        try JSON(document: text(id, state, name, members).utf8).decoded(JobDocument.self)
    }

    static func event(_ id: Int, _ type: String, job: String = "job_1", data: String = "{}") throws -> EventDocument {
        let text =
            #"{"id":\#(id),"type":"\#(type)","time":"2019-08-19T15:23:14.250Z","session":"s","job":"\#(job)","data":\#(data)}"#
        return try JSON(document: text.utf8).decoded(EventDocument.self)
    }

    static func progress(_ job: String, _ received: Int, of expected: Int) throws -> ProgressDocument {
        let text = """
            {"job":"\(job)","session":"s","phase":"transferring","progress":{"bytes_received":\(received),
             "bytes_expected":\(expected),"fraction":\(Double(received) / Double(expected)),"bytes_per_second":1048576,
             "eta_seconds":62}}
            """
        return try JSON(document: text.utf8).decoded(ProgressDocument.self)
    }

    /// - Parameter members: additional members. The decoder takes one of two members with the same name, so these are
    /// not among those below.
    static func text(_ id: String, _ state: String, _ name: String, _ members: String) -> String {
        """
        {"id":"\(id)","session":"s","state":"\(state)","url":"https://h.example/\(name)?signature=1",
         "destination":{"directory":null,"filename":null},"priority":"normal","created_at":"2019-08-19T15:23:14.250Z",
         "progress":{"bytes_received":0,"bytes_expected":null,"fraction":null,"bytes_per_second":null,
         "eta_seconds":null},"attempts":1,"tags":[]\(members)}
        """
    }

    static let failure = #","failure":{"code":"bad_status","message":"The server answered 404.","status":404}"#
    static let file = #","file":{"path":"videos/film (1).mkv","size":1048576,"sha256":null,"content_type":null}"#
}
