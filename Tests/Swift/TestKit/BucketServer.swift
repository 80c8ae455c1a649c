import Formats
import Foundation

/// A server of S3-compatible storage, in Python, with one bucket.
public struct BucketServer: Sendable {
    public enum Kind: String, Sendable {
        /// `Tests/S3/strict_server.py`: refuses what strict servers refuse, and fails where the test wants it to.
        case strict = "Tests/S3/strict_server.py"
        /// moto, which compares each signature with botocore's. It needs `.venv`.
        case moto = "Tests/S3/moto_server.py"
    }

    public let port: Int
    public let bucket, keyID, secret: String
    private let process: ChildProcess
    private let control: APIClient

    public init(_ kind: Kind = .strict) async throws {
        let process = try await ChildProcess(Project.python, [Project.path(kind.rawValue)])
        let line = try await eventually("the storage server") {
            process.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().first {
                $0.hasPrefix("{")
            }
        }
        let ready = try JSON(parsing: String(line))
        self.process = process
        port = Int(ready["port"].integerValue ?? 0)
        (bucket, keyID, secret) = (ready["bucket"].string ?? "", ready["id"].string ?? "", ready["secret"].string ?? "")
        control = APIClient(baseURL: "http://127.0.0.1:\(port)/_test", isRecorded: false)
    }

    public var endpoint: String { "http://127.0.0.1:\(port)" }

    /// The argument of `--location`.
    public func location(_ name: String, prefix: String = "", _ parameters: String = "") -> String {
        "\(name)=s3://\(bucket)/\(prefix)?endpoint=\(endpoint)\(parameters)"
    }

    /// Its access key, as AWS names the variables.
    public var environment: [String: String] { ["AWS_ACCESS_KEY_ID": keyID, "AWS_SECRET_ACCESS_KEY": secret] }

    // MARK: The strict server

    public struct Fault: Sendable {
        let operation, action: String
        let number: Int

        /// - Parameters:
        ///   - number: of the request, counted from 1 since the faults were set; 0: each.
        ///   - operation: such as `UploadPart`; `any` counts all.
        public init(_ action: String, _ number: Int, _ operation: String = "any") {
            (self.action, self.number, self.operation) = (action, number, operation)
        }
    }

    /// Replaces the faults. Requests that are frozen end.
    public func set(_ faults: Fault...) async throws {
        let rules = faults.map { fault in
            ["operation": .string(fault.operation), "number": .count(fault.number), "do": .string(fault.action)] as JSON
        }
        _ = try await control.put("/faults", .array(rules))
    }

    public func keepConditions(_ areKept: Bool) async throws {
        _ = try await control.put("/conditions", .bool(areKept))
    }

    /// Forgets the uploads that are neither complete nor aborted, as a rule for old uploads does.
    public func loseUploads() async throws { _ = try await control.put("/uploads", .array([])) }

    /// Puts an object, as another program does.
    public func put(_ key: String, _ bytes: [UInt8]) async throws {
        _ = try await control.send("PUT", "/object?key=\(key)", bytes: bytes)
    }

    public struct State: Sendable {
        /// Lowercase hexadecimal SHA-256 of each object, by its key.
        public let objects: [String: String]
        /// The keys of uploads that are neither complete nor aborted.
        public let uploads: [String]
        /// The operations since the faults were set.
        public let log: [String]
        /// The keys of objects in the order of their creation.
        public let created: [String]
        /// The number of frozen requests.
        public let frozen: Int
        public let headers: [String: JSON]
    }

    public func state() async throws -> State {
        let state = try await control.get("/state").json
        let names = (state["created"].arrayValue ?? []).compactMap(\.string)
        let objects = names.map { ($0, state["objects"][$0]) }.filter { $0.1 != .null }
        func texts(_ name: String) -> [String] { (state[name].arrayValue ?? []).compactMap(\.string) }
        return State(
            objects: objects.reduce(into: [:]) { $0[$1.0] = $1.1["sha256"].string }, uploads: texts("uploads"),
            log: texts("log"), created: texts("created"), frozen: Int(state["frozen"].integerValue ?? 0),
            headers: objects.reduce(into: [:]) { $0[$1.0] = $1.1["headers"] })
    }
}
