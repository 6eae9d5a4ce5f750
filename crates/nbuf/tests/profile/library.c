/* The part of the work that is in a library. */
void library_computes(long rounds)
{
	for (volatile long n = 0; n < rounds; n++)
		;
}
