/* The engine's messages, each with k6's message, where no more than the words differ: patch words. Both take the same arguments.
   build.rs checks that the engine still says each of them. */
static const struct {
    const char *engine, *k6;
} brunt_words[] = {
    { "cannot read property '%s' of null", "Cannot read property '%s' of undefined" },
    { "cannot read property '%s' of undefined", "Cannot read property '%s' of undefined" },
    { "cannot set property '%s' of null", "Cannot convert undefined or null to object" },
    { "cannot set property '%s' of undefined", "Cannot convert undefined or null to object" },
    { "value is not iterable", "object is not iterable" },
    { "null or undefined are forbidden", "Value is not object coercible" },
    { "'%s' is read-only", "Cannot assign to read only property '%s'" },
    { "class constructors must be invoked with 'new'", "Class constructor cannot be invoked without 'new'" },
    { "parent class must be constructor", "Class extends value is not a constructor or null" },
    { "private class field '%s' does not exist", "Cannot read private member %s from an object whose class did not declare it" },
    { "not a constructor", "Value is not a constructor" },
    { "invalid array length", "Invalid array length" },
    { "invalid repeat count", "Invalid count value" },
    { "Date value is NaN", "Invalid time value" },
    { "BigInt division by zero", "Division by zero" },
    { "BigInt are forbidden in JSON.stringify", "Do not know how to serialize a BigInt" },
    { "bigint argument with unary +", "Cannot convert a BigInt value to a number" },
    { "cannot convert BigInt to number", "Cannot convert a BigInt value to a number" },
    { "BigInt negative exponent", "exponent must be positive" },
    { "BigInt operands are forbidden for >>>", "BigInts have no unsigned right shift, use >> instead" },
    { "revoked proxy", "Proxy already revoked" },
    { "proxy: defineProperty exception", "'defineProperty' on proxy: trap returned falsish" },
    { "bad normalization form", "The normalization form should be one of NFC, NFD, NFKC, NFKD" },
    { "circular prototype chain", "Cyclic __proto__ value" },
    { "cannot convert symbol to number", "Cannot convert a Symbol value to a number" },
    { "cannot convert symbol to string", "Cannot convert a Symbol value to a string" },
    { "expecting hex digit", "Malformed URI" },
    { "expecting surrogate pair", "Malformed URI" },
    { "empty array", "No initial value" },
};

static const char *brunt_said(const char *engine)
{
    size_t i;

    for (i = 0; i < countof(brunt_words); i++) {
        if (engine[0] == brunt_words[i].engine[0] && !strcmp(engine, brunt_words[i].engine))
            return brunt_words[i].k6;
    }
    return engine;
}
