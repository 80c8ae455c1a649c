/// Why the service did not start: one sentence for the terminal.
public struct StartError: Error, CustomStringConvertible {
    public let description: String

    /// Lets an error of a layer below end the start with its description.
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
