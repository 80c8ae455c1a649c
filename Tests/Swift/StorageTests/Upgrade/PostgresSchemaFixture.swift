import Foundation
import PostgresClient
import TestKit

@testable import Storage
@testable import StoragePostgres

/// The tables of one schema version on PostgreSQL with data in every table, as fetchd left them:
/// `Tests/Fixtures/schemas/postgres/NN.sql`. `Tests/Fixtures/write` writes that of the latest version.
struct PostgresSchemaFixture {
    let version: Int

    static var versions: [Int] { Array(Schema.baseline...Schema.latest) }

    private var file: URL { SchemaFixture.folder.appending(path: "postgres/\(version).sql") }

    var exists: Bool { FileManager.default.fileExists(atPath: file.path) }

    /// A name space with these tables, and a data folder with the key of their secrets.
    func open() throws -> (database: PostgresFixture, folder: TemporaryFolder) {
        let (database, folder) = (try PostgresFixture(), try TemporaryFolder())
        try database.connect().execute(script: String(contentsOf: file, encoding: .utf8))
        try SchemaFixture.writeKey(into: folder.path)
        return (database, folder)
    }

    /// Fills a new name space by the store of this program, and writes its tables to the file.
    func write() async throws {
        let (database, folder) = (try PostgresFixture(), try TemporaryFolder())
        try SchemaFixture.writeKey(into: folder.path)
        try await SchemaFixtureData(in: folder, Self.options(database)).write()
        let dump = try await ChildProcess.run(
            "pg_dump", ["--no-owner", "--column-inserts", "--schema=\(database.name)", database.url])
        guard dump.succeeded else { throw Overdue("pg_dump failed: \(dump.errors)") }
        try Data(Self.statements(of: dump.output, without: database.name).utf8).write(to: file)
    }

    static func options(_ database: PostgresFixture) -> Store.Options {
        var options = Store.Options()
        (options.server, options.acceptsUnsafeServer) = (.postgres(database.url), true)
        return options
    }

    /// The statements without the name space, and without the settings and comments of pg_dump.
    private static func statements(of dump: String, without name: String) -> String {
        let settings = ["--", "\\", "SET ", "SELECT pg_catalog.set_config", "CREATE SCHEMA"]
        let lines = dump.split(separator: "\n").filter { line in !settings.contains { line.hasPrefix($0) } }
        return lines.joined(separator: "\n").replacing("\(name).", with: "") + "\n"
    }
}
