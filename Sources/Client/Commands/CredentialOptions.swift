import ArgumentParser

/// Credentials for the server of the download. Secrets are read from files, because other users can read command lines.
struct CredentialOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The user name for basic or digest authentication.", valueName: "name"))
    var user: String?

    @Option(
        help: ArgumentHelp("A file with the password; - reads standard input.", valueName: "file"), completion: .file())
    var passwordFile: String?

    @Flag(help: "Use digest instead of basic authentication.")
    var digest = false

    @Option(
        help: ArgumentHelp("A file with a bearer token; - reads standard input.", valueName: "file"),
        completion: .file())
    var bearerFile: String?

    func validate() throws {
        if user != nil, bearerFile != nil { throw ValidationError("Give a user or a bearer token, not both.") }
        if (user == nil) != (passwordFile == nil) {
            throw ValidationError("--user requires --password-file, and --password-file requires --user.")
        }
    }

    func document() throws(ClientError) -> JSONText? {
        if let bearerFile {
            return .object([("type", .string("bearer")), ("token", .string(try SecretFile.line(of: bearerFile)))])
        }
        guard let user, let passwordFile else { return nil }
        return .object([
            ("type", .string(digest ? "digest" : "basic")), ("username", .string(user)),
            ("password", .string(try SecretFile.line(of: passwordFile))),
        ])
    }
}
