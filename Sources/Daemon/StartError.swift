/// The service could not start. The description is one sentence for the terminal.
public struct StartError: Error, CustomStringConvertible {
    public let description: String

    /// Runs `body`, and converts its error to a `StartError` with the same description.
    static func wrapping<Value, Failure: Error>(
        _ body: () async throws(Failure) -> Value
    ) async throws(StartError) -> Value {
        do throws(Failure) {
            return try await body()
        } catch {
            throw StartError(description: "\(error)")
        }
    }

    static func wrapping<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(StartError) -> Value {
        do throws(Failure) {
            return try body()
        } catch {
            throw StartError(description: "\(error)")
        }
    }
}
